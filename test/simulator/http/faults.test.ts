import { describe, expect, it } from 'vitest';
import type { HttpFault } from '../../../src/simulator/index.ts';
import { parseEvents, post, until, withServer } from './client.ts';

const body = { model: 'm', max_tokens: 6, messages: [{ role: 'user', content: 'hi' }] };
const VERSION = { 'anthropic-version': '2023-06-01' };
const OPENAI = '/v1/chat/completions';
const ANTHROPIC = '/v1/messages';

/** What the first of two completions gets; the second is as it should be. */
const first = (fault: HttpFault) => ({
  output: { mean: 100 },
  faults: (index: number) => (index === 0 ? fault : undefined),
});

describe.each([OPENAI, ANTHROPIC])('a fault at %s', (path) => {
  const ask = (server: Parameters<typeof post>[0], stream = false, signal?: AbortSignal) =>
    post(server, path, { ...body, stream }, VERSION, signal);

  it('is told as an error of the API, once, and not known to the provider', () =>
    withServer(
      {},
      async (server, provider) => {
        const refused = await ask(server);
        expect(refused.status).toBe(429);
        expect(Number(refused.headers.get('retry-after'))).toBe(3);
        expect(await refused.json()).toMatchObject({ error: { message: expect.any(String) } });
        expect((await ask(server)).status).toBe(200);
        expect(provider.stats().submitted).toBe(1);
      },
      first({ fault: 'status', status: 429, retryAfterMs: 3000 }),
    ));

  it.each([false, true])('breaks the connection before the head; streamed: %s', (stream) =>
    withServer(
      {},
      async (server) => {
        await expect(ask(server, stream)).rejects.toThrow('fetch failed');
        expect((await ask(server, stream)).status).toBe(200);
        expect(server.requests.map(({ status }) => status)).toEqual([undefined, 200]);
      },
      first({ fault: 'reset' }),
    ),
  );

  it.each([false, true])('keeps silent; streamed: %s', (stream) =>
    withServer(
      {},
      async (server) => {
        const controller = new AbortController();
        const answer = ask(server, stream, controller.signal);
        await until(() => server.requests.length === 1);
        controller.abort(new Error('enough'));
        await expect(answer).rejects.toThrow('enough');
        await until(() => server.requests[0]?.aborted === true);
      },
      first({ fault: 'hang' }),
    ),
  );

  it.each([false, true])('answers what is no JSON; streamed: %s', (stream) =>
    withServer(
      {},
      async (server) => {
        const answer = await ask(server, stream);
        expect(answer.status).toBe(200);
        expect(await answer.text()).toMatch(
          stream ? /data: {"id": "cut o\n\n$/ : /^{"id": "cut o$/,
        );
      },
      first({ fault: 'malformed' }),
    ),
  );

  describe('in the middle of a stream', () => {
    const words = (text: string) => text.match(/"(content|text)":"[^"]+"/g)?.length;
    const latency = 60;

    it('breaks it off', () =>
      withServer(
        { latency },
        async (server) => {
          const answer = await ask(server, true);
          await expect(answer.text()).rejects.toThrow('terminated');
        },
        first({ fault: 'reset', afterWords: 2 }),
      ));

    it('keeps it silent from there on', () =>
      withServer(
        { latency },
        async (server, provider) => {
          const controller = new AbortController();
          const answer = await ask(server, true, controller.signal);
          let text = '';
          const reading = (async () => {
            for await (const part of answer.body ?? []) text += Buffer.from(part).toString();
          })();
          await until(() => words(text) === 2 && provider.stats().completed === 1);
          expect(text).not.toMatch(/DONE|message_stop/);
          expect(server.requests[0]?.aborted).toBe(false);
          controller.abort(new Error('enough'));
          await expect(reading).rejects.toThrow('enough');
        },
        first({ fault: 'hang', afterWords: 2 }),
      ));

    it('makes the next event one that is none, and the last', () =>
      withServer(
        { latency },
        async (server) => {
          const text = await (await ask(server, true)).text();
          expect(words(text)).toBe(2);
          expect(text).toMatch(/data: {"id": "cut o\n\n$/);
        },
        first({ fault: 'malformed', afterWords: 2 }),
      ));

    it('is told as an event of the API, which is the last', () =>
      withServer(
        {},
        async (server) => {
          const text = await (await ask(server, true)).text();
          const { name, data } = parseEvents(text).at(-1) ?? {};
          expect(name).toBe(path === ANTHROPIC ? 'error' : undefined);
          expect(data).toMatchObject({ error: { message: 'The request was told to fail.' } });
        },
        first({ fault: 'status', status: 529, afterWords: 100 }),
      ));
  });
});

it('says when each request came', () =>
  withServer({}, async (server, provider) => {
    const before = provider.clock.now();
    await post(server, OPENAI, body);
    expect(server.requests[0]?.receivedMs).toBeGreaterThanOrEqual(before);
    expect(server.requests[0]?.receivedMs).toBeLessThanOrEqual(provider.clock.now());
  }));

it.each([
  [{ fault: 'flood' }, '`fault`'],
  [{ fault: 'status', status: 600 }, '`status`'],
  [{ fault: 'status', retryAfterMs: -1 }, '`retryAfterMs`'],
  [{ fault: 'hang', afterWords: 0.5 }, '`afterWords`'],
  [{ fault: 'hang', after: 1 }, '`after` is no option of fault'],
])('a fault that is none is an error of the server: %j', (fault, message) =>
  withServer(
    {},
    async (server) => {
      const answer = await post(server, OPENAI, body);
      expect(answer.status).toBe(500);
      expect(await answer.text()).toContain(message);
    },
    { faults: () => fault as HttpFault },
  ),
);

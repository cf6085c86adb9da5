import { describe, expect, it } from 'vitest';
import { serve } from '../../../src/simulator/http/serve.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { createProvider } from '../../../src/simulator/provider.ts';
import { post, until, withServer } from './client.ts';

const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

/** How many servers of this process listen. */
const listening = () =>
  process.getActiveResourcesInfo().filter((kind) => kind === 'TCPServerWrap').length;

describe('serve', () => {
  it('answers 404 and 405 in the words of the API that was meant', () =>
    withServer({}, async (server) => {
      const bodyOf = async (method: string, path: string, headers: Record<string, string> = {}) => {
        const response = await fetch(server.url + path, { method, headers });
        return [response.status, response.headers.get('allow'), await response.json()];
      };
      expect(await bodyOf('GET', '/nowhere')).toMatchObject([
        404,
        null,
        { error: { type: 'invalid_request_error' } },
      ]);
      expect(await bodyOf('GET', '/v1/nowhere', { 'anthropic-version': 'x' })).toMatchObject([
        404,
        null,
        { type: 'error', error: { type: 'not_found_error' } },
      ]);
      expect(await bodyOf('POST', '/api/v1/nowhere')).toMatchObject([
        404,
        null,
        { category: 'user' },
      ]);
      expect(await bodyOf('GET', '/v1/chat/completions')).toMatchObject([405, 'POST', {}]);
      expect(await bodyOf('DELETE', '/v1/models')).toMatchObject([405, 'GET', {}]);
      expect(await bodyOf('GET', '/v1/messages')).toMatchObject([405, 'POST', { type: 'error' }]);
      expect(server.requests.map(({ method, status }) => [method, status])).toEqual([
        ['GET', 404],
        ['GET', 404],
        ['POST', 404],
        ['GET', 405],
        ['DELETE', 405],
        ['GET', 405],
      ]);
    }));

  it('frees the unit of a client that leaves before the answer', () =>
    withServer({ latency: 60_000, concurrency: { units: 1 } }, async (server, provider) => {
      const controller = new AbortController();
      const gone = post(server, '/v1/chat/completions', chat, {}, controller.signal);
      await until(() => provider.stats().inFlight === 1);
      controller.abort();
      await expect(gone).rejects.toThrow();
      await until(() => provider.stats().inFlight === 0);
      expect(provider.stats()).toMatchObject({ aborted: 1, completed: 0 });
      expect(server.requests[0]).toMatchObject({ aborted: true, status: undefined });
    }));

  it.each(['/v1/chat/completions', '/v1/messages'])(
    'frees the unit of a client that leaves a stream of %s, and stops writing',
    async (path) => {
      const clock = new ManualClock();
      await withServer({ clock, latency: 60_000 }, async (server, provider) => {
        const controller = new AbortController();
        const body = { ...chat, max_tokens: 10, stream: true };
        const headers = { 'anthropic-version': 'x' };
        const response = await post(server, path, body, headers, controller.signal);
        const reader = response.body?.getReader();
        expect((await reader?.read())?.done).toBe(false);
        expect(clock.pendingTimers).toBe(2);
        controller.abort();
        await until(() => provider.stats().aborted === 1);
        expect(provider.stats().inFlight).toBe(0);
        expect(clock.pendingTimers).toBe(0);
      });
    },
  );

  it('streams words as they come', async () => {
    const clock = new ManualClock();
    await withServer({ clock, latency: 1100 }, async (server) => {
      const body = { ...chat, max_tokens: 10, stream: true };
      const response = await post(server, '/v1/chat/completions', body);
      let text = '';
      const reading = (async () => {
        const decoder = new TextDecoder();
        for await (const part of response.body ?? []) text += decoder.decode(part);
      })();
      const words = () => text.split('"content":"').length - 2;
      await until(() => words() === 0);
      await clock.advanceAsync(300);
      await until(() => words() === 3);
      expect(text).not.toContain('[DONE]');
      await clock.advanceAsync(800);
      await reading;
      expect(words()).toBe(10);
    });
  });

  it('closes at once, whatever is open, and twice', async () => {
    const before = listening();
    const provider = createProvider({ failures: [{ fault: 'hang', probability: 1 }] });
    const server = await serve(provider);
    const open = [
      post(server, '/v1/chat/completions', chat),
      post(server, '/v1/chat/completions', { ...chat, stream: true }).then((r) => r.text()),
      post(server, '/api/v1/asample', { base_model: 'm', prompt: { chunks: [{ tokens: [1] }] } }),
    ].map((each) =>
      each.then(
        () => 'done',
        () => 'broken',
      ),
    );
    await until(() => provider.stats().inFlight === 3);
    const startMs = performance.now();
    await Promise.all([server.close(), server.close()]);
    // Node itself would end the open connections after 5 s.
    expect(performance.now() - startMs).toBeLessThan(4_500);
    expect((await Promise.all(open)).slice(0, 2)).toEqual(['broken', 'broken']);
    expect(provider.stats()).toMatchObject({ inFlight: 0, aborted: 3 });
    await expect(fetch(`${server.url}/v1/models`)).rejects.toThrow('fetch failed');
    expect(listening()).toBeLessThanOrEqual(before);
  });

  it('remembers its last thousand requests', () =>
    withServer({}, async (server) => {
      for (let sent = 0; sent < 3; sent++) await fetch(`${server.url}/v1/models`);
      expect(server.requests.map(({ path }) => path)).toEqual(Array(3).fill('/v1/models'));
      expect(new Set(server.requests.map(({ id }) => id)).size).toBe(3);
    }));

  it('says so when the port is taken', () =>
    withServer({}, async (server) => {
      await expect(serve(createProvider(), { port: server.port })).rejects.toThrow('EADDRINUSE');
    }));

  const wrong: [object, string][] = [
    [{ port: -1 }, '`port`'],
    [{ port: 70_000 }, '`port` must be an integer <= 65535, got 70000'],
    [{ models: [''] }, '`models`'],
    [{ output: { mean: 0 } }, '`output.mean`'],
    [{ pollMs: Number.NaN }, '`pollMs`'],
    [{ futureTtlMs: -1 }, '`futureTtlMs`'],
    [{ wallNow: 3 }, '`wallNow`'],
    [{ host: 'x' }, '`host` is no option of serve'],
  ];

  it.each(wrong)('refuses %j', async (options, message) => {
    await expect(serve(createProvider(), options)).rejects.toThrow(message);
  });
});

import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { parseEvents, post, withServer } from './client.ts';

const path = '/v1/messages';
const version = { 'anthropic-version': '2023-06-01' };
const message = { model: 'm', max_tokens: 6, messages: [{ role: 'user', content: 'hello gate' }] };
const window = { unit: 'requests', algorithm: 'fixed-window', limit: 1, windowMs: 60_000 } as const;

describe('POST /v1/messages', () => {
  it('answers with a message, its usage and the limits', () =>
    withServer(
      {
        limits: [
          { ...window, limit: 50 },
          {
            unit: 'output-tokens',
            algorithm: 'token-bucket',
            limit: 1000,
            windowMs: 60_000,
            charge: 'actual',
          },
        ],
      },
      async (server) => {
        const response = await post(server, path, { ...message, system: 'be dry' }, version);
        expect(response.status).toBe(200);
        expect(response.headers.get('request-id')).toMatch(/^req_/);
        expect(response.headers.get('anthropic-ratelimit-requests-limit')).toBe('50');
        expect(response.headers.get('anthropic-ratelimit-requests-remaining')).toBe('49');
        // A minute from the moment at which it was let in, less the real time that has passed since
        // then.
        expect(response.headers.get('anthropic-ratelimit-requests-reset')).toMatch(
          /^2026-01-01T00:(01:00|00:\d\d)Z$/,
        );
        expect(response.headers.get('anthropic-ratelimit-output-tokens-remaining')).toBe('1000');
        expect(response.headers.get('date')).toBe('Thu, 01 Jan 2026 00:00:00 GMT');
        expect(await response.json()).toMatchObject({
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [{ type: 'text' }],
          stop_reason: 'max_tokens',
          stop_sequence: null,
          usage: { input_tokens: 9, output_tokens: 6 },
        });
      },
      { wallNow: () => Date.UTC(2026, 0, 1) },
    ));

  it('streams named events', () =>
    withServer({ latency: 20 }, async (server) => {
      const whole = (await (await post(server, path, message, version)).json()) as {
        content: { text: string }[];
      };
      const response = await post(server, path, { ...message, stream: true }, version);
      const events = parseEvents(await response.text());
      const names = events.map(({ name }) => name);
      expect(names.filter((name) => name !== 'content_block_delta')).toEqual([
        'message_start',
        'content_block_start',
        'ping',
        'content_block_stop',
        'message_delta',
        'message_stop',
      ]);
      for (const { name, data } of events) expect(data).toMatchObject({ type: name });
      const deltas = events.filter(({ name }) => name === 'content_block_delta');
      const text = deltas
        .map(({ data }) => (data as { delta: { text: string } }).delta.text)
        .join('');
      expect(text).toBe(whole.content[0]?.text);
      expect(events.at(-2)?.data).toMatchObject({
        delta: { stop_reason: 'max_tokens' },
        usage: { output_tokens: 6 },
      });
    }));

  it('answers 429 and 529 in its own words', () =>
    withServer({ limits: [window], storms: [{ fromMs: 1e9, toMs: 1e10 }] }, async (server) => {
      await (await post(server, path, message, version)).text();
      const response = await post(server, path, message, version);
      expect(response.status).toBe(429);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(50);
      const body = (await response.json()) as { request_id: string };
      expect(body).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } });
      expect(body.request_id).toBe(response.headers.get('request-id'));
    }));

  it('calls an outage overloaded, and a spent quota a 429 without a wait', async () => {
    await withServer({ storms: [{ fromMs: 0, toMs: 1e9 }] }, async (server) => {
      const response = await post(server, path, message, version);
      expect(response.status).toBe(529);
      expect(await response.json()).toMatchObject({ error: { type: 'overloaded_error' } });
    });
    await withServer({ quota: { requests: 0 } }, async (server) => {
      const response = await post(server, path, message, version);
      expect(response.status).toBe(429);
      expect(response.headers.get('retry-after')).toBeNull();
    });
  });

  const wrong: [string, object, Record<string, string>, string][] = [
    ['no version', message, {}, 'anthropic-version'],
    ['no max_tokens', { ...message, max_tokens: undefined }, version, 'max_tokens'],
    ['no model', { ...message, model: undefined }, version, 'model'],
    ['no messages', { ...message, messages: [] }, version, 'messages'],
    [
      'a strange role',
      { ...message, messages: [{ role: 'system', content: 'x' }] },
      version,
      'messages.0.role',
    ],
    ['no content', { ...message, messages: [{ role: 'user' }] }, version, 'messages.0.content'],
  ];

  it.each(wrong)('answers 400 to %s', (_name, body, headers, names) =>
    withServer({}, async (server) => {
      const response = await post(server, path, body, headers);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        type: 'error',
        error: { type: 'invalid_request_error', message: expect.stringContaining(names) },
      });
    }),
  );

  it('answers 413 above 32 MiB, announced or not', () =>
    withServer({}, async (server) => {
      const send = (headers: Record<string, string>, chunks: number) =>
        new Promise<[number | undefined, string]>((resolve, reject) => {
          const request = httpRequest(
            server.url + path,
            { method: 'POST', headers: { ...version, ...headers } },
            (response) => {
              let text = '';
              response.setEncoding('utf8');
              response.on('data', (part: string) => {
                text += part;
              });
              response.on('end', () => {
                resolve([response.statusCode, text]);
                request.destroy();
              });
            },
          );
          request.on('error', reject);
          for (let sent = 0; sent < chunks; sent++) request.write(Buffer.alloc(1024 * 1024, 32));
          if (chunks > 0) request.end();
          else request.flushHeaders();
        });
      const announced = await send({ 'content-length': String(33 * 1024 * 1024) }, 0);
      expect(announced).toEqual([413, expect.stringContaining('request_too_large')]);
      const chunked = await send({}, 34);
      expect(chunked).toEqual([413, expect.stringContaining('request_too_large')]);
    }));

  it('takes its key from x-api-key or a bearer', () =>
    withServer({ apiKeys: ['k'] }, async (server) => {
      const statusOf = async (headers: Record<string, string>) =>
        (await post(server, path, message, { ...version, ...headers })).status;
      expect(await statusOf({ 'x-api-key': 'k' })).toBe(200);
      expect(await statusOf({ authorization: 'Bearer k' })).toBe(200);
      expect(await statusOf({ 'x-api-key': 'wrong' })).toBe(401);
      const response = await post(server, path, message, version);
      expect(await response.json()).toMatchObject({ error: { type: 'authentication_error' } });
    }));
});

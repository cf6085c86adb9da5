import { describe, expect, it } from 'vitest';
import { type Json, parseEvents, post, withServer } from './client.ts';

const path = '/v1/chat/completions';
const chat = { model: 'm', messages: [{ role: 'user', content: 'What is a headgate?' }] };
const window = {
  unit: 'requests',
  algorithm: 'fixed-window',
  limit: 1,
  windowMs: 360_000,
} as const;
const tokens = {
  unit: 'tokens',
  algorithm: 'token-bucket',
  limit: 10_000,
  windowMs: 1000,
} as const;

describe('POST /v1/chat/completions', () => {
  it('answers with a completion, its usage and the limits', () =>
    withServer({ limits: [{ ...window, limit: 60 }, tokens] }, async (server, provider) => {
      const response = await post(server, path, { ...chat, max_tokens: 8 });
      expect(response.status).toBe(200);
      expect(response.headers.get('x-request-id')).toMatch(/^req_/);
      expect(response.headers.get('x-ratelimit-limit-requests')).toBe('60');
      expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('59');
      // Real time has passed since then: how much is not promised.
      expect(response.headers.get('x-ratelimit-reset-requests')).toMatch(/^(6m0s|5m\d+(\.\d+)?s)$/);
      expect(response.headers.get('x-ratelimit-remaining-tokens')).toBe('9983');
      expect(response.headers.get('x-ratelimit-reset-tokens')).toMatch(/^[0-2]ms$/);
      expect(response.headers.get('date')).not.toBeNull();
      const body = await response.json();
      expect(body).toMatchObject({
        object: 'chat.completion',
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant' }, finish_reason: 'length' }],
        usage: { prompt_tokens: 9, completion_tokens: 8, total_tokens: 17 },
      });
      expect(provider.stats()).toMatchObject({ completed: 1, inputTokens: 9, outputTokens: 8 });
    }));

  it('says the same to the same prompt, and something else to another', () =>
    withServer({ seed: 4 }, async (server) => {
      const say = async (content: string) => {
        const response = await post(server, path, {
          ...chat,
          messages: [{ role: 'user', content }],
        });
        const { choices } = (await response.json()) as {
          choices: { message: { content: string } }[];
        };
        return choices[0]?.message.content;
      };
      expect(await say('one')).toBe(await say('one'));
      expect(await say('one')).not.toBe(await say('two'));
    }));

  it('streams chunks with the same text, then usage, then [DONE]', () =>
    withServer({ latency: 30 }, async (server) => {
      const whole = (await (await post(server, path, chat)).json()) as {
        choices: { message: { content: string } }[];
        usage: Json;
      };
      const options = { stream: true, stream_options: { include_usage: true } };
      const response = await post(server, path, { ...chat, ...options });
      expect(response.headers.get('content-type')).toContain('text/event-stream');
      const events = parseEvents(await response.text()).map(({ data }) => data);
      expect(events.pop()).toBe('[DONE]');
      const chunks = events as {
        choices: { delta: { content?: string }; finish_reason: string | null }[];
        usage: unknown;
      }[];
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
      expect(chunks.at(-2)?.choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' });
      const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
      expect(text).toBe(whole.choices[0]?.message.content);
    }));

  it('streams no usage that nobody asked for', () =>
    withServer({}, async (server) => {
      const text = await (await post(server, path, { ...chat, stream: true })).text();
      expect(text).not.toContain('usage');
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    }));

  it('answers 429 with the wait in headers, streamed or not', () =>
    withServer({ limits: [window] }, async (server) => {
      await (await post(server, path, chat)).text();
      for (const stream of [false, true]) {
        const response = await post(server, path, { ...chat, stream });
        expect(response.status).toBe(429);
        const waitMs = Number(response.headers.get('retry-after-ms'));
        expect(waitMs).toBeGreaterThan(350_000);
        expect(response.headers.get('retry-after')).toBe(String(Math.ceil(waitMs / 1000)));
        expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('0');
        expect(await response.json()).toMatchObject({
          error: { type: 'requests', param: null, code: 'rate_limit_exceeded' },
        });
      }
    }));

  it('answers insufficient_quota, 503 and 500 in their own words', async () => {
    const errorOf = (options: Parameters<typeof withServer>[0]) =>
      withServer(options, async (server) => {
        const response = await post(server, path, chat);
        return [response.status, await response.json()];
      });
    expect(await errorOf({ quota: { requests: 0 } })).toMatchObject([
      429,
      { error: { type: 'insufficient_quota', code: 'insufficient_quota' } },
    ]);
    expect(await errorOf({ storms: [{ fromMs: 0, toMs: 1e9 }] })).toMatchObject([
      503,
      { error: { type: 'server_error', code: null } },
    ]);
    expect(await errorOf({ failures: [{ fault: 'error', probability: 1 }] })).toMatchObject([
      500,
      { error: { type: 'server_error' } },
    ]);
  });

  it('breaks the connection when it was told to', () =>
    withServer({ latency: 30, failures: [{ fault: 'reset', probability: 1 }] }, async (server) => {
      await expect(post(server, path, chat)).rejects.toThrow('fetch failed');
      const response = await post(server, path, { ...chat, stream: true });
      await expect(response.text()).rejects.toThrow();
    }));

  const wrong: [string, unknown, string | null][] = [
    ['bad JSON', '{"model":', null],
    ['a list', '[]', null],
    ['no model', { messages: chat.messages }, 'model'],
    ['no messages', { model: 'm' }, 'messages'],
    ['empty messages', { model: 'm', messages: [] }, 'messages'],
    ['a message without a role', { model: 'm', messages: [{ content: 'x' }] }, 'messages[0].role'],
    [
      'content that is a number',
      { model: 'm', messages: [{ role: 'user', content: 3 }] },
      'messages[0].content',
    ],
    ['negative max_tokens', { ...chat, max_tokens: -1 }, 'max_tokens'],
    ['stream that is a string', { ...chat, stream: 'yes' }, 'stream'],
    ['stream_options that are a list', { ...chat, stream_options: [] }, 'stream_options'],
  ];

  it.each(wrong)('answers 400 to %s', (_name, body, param) =>
    withServer({}, async (server, provider) => {
      const response = await post(server, path, body);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: { type: 'invalid_request_error', param, code: null },
      });
      expect(provider.stats().submitted).toBe(0);
    }),
  );

  it('knows its models and its keys', () =>
    withServer(
      { apiKeys: ['sk-good'] },
      async (server) => {
        const key = { authorization: 'Bearer sk-good' };
        const bad = await post(server, path, chat, { authorization: 'Bearer sk-bad' });
        expect(bad.status).toBe(401);
        expect(await bad.json()).toMatchObject({ error: { code: 'invalid_api_key' } });
        expect((await post(server, path, { ...chat, model: 'a' }, key)).status).toBe(200);
        const unknown = await post(server, path, chat, key);
        expect(unknown.status).toBe(404);
        expect(await unknown.json()).toMatchObject({ error: { code: 'model_not_found' } });
      },
      { models: ['a', 'b'] },
    ));
});

describe('GET /v1/models', () => {
  it('lists models in the words of the API that asks', () =>
    withServer(
      {},
      async (server) => {
        const list = async (headers: Record<string, string>) =>
          (await fetch(`${server.url}/v1/models?limit=20`, { headers })).json();
        expect(await list({})).toEqual({
          object: 'list',
          data: ['a', 'b'].map((id) => ({
            id,
            object: 'model',
            created: 0,
            owned_by: 'simulator',
          })),
        });
        expect(await list({ 'anthropic-version': '2023-06-01' })).toMatchObject({
          data: [{ type: 'model', id: 'a' }, { id: 'b' }],
          has_more: false,
          first_id: 'a',
          last_id: 'b',
        });
      },
      { models: ['a', 'b'] },
    ));
});

it.each([
  ['/openai/deployments/m/chat/completions?api-version=2024-10-21', { 'api-key': 'known' }],
  ['/v1beta/openai/chat/completions', { authorization: 'Bearer known' }],
])('answers under the prefixes of those who speak this API: %s', (path, headers) =>
  withServer({ apiKeys: ['known'] }, async (server) => {
    const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
    expect((await post(server, path, chat, headers)).status).toBe(200);
    expect((await post(server, path, chat)).status).toBe(401);
  }),
);

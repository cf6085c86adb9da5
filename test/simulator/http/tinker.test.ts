import { describe, expect, it } from 'vitest';
import type { ProviderServer } from '../../../src/simulator/http/serve.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { post, until, withServer } from './client.ts';

const sample = {
  base_model: 'm',
  prompt: { chunks: [{ type: 'encoded_text', tokens: [1, 2, 3] }] },
  sampling_params: { max_tokens: 4 },
  num_samples: 2,
};

async function start(server: ProviderServer, body: object = sample): Promise<string> {
  const response = await post(server, '/api/v1/asample', body);
  expect(response.status).toBe(200);
  return ((await response.json()) as { request_id: string }).request_id;
}

const retrieve = (server: ProviderServer, id: string) =>
  post(server, '/api/v1/retrieve_future', { request_id: id });

describe('POST /api/v1/asample', () => {
  it('returns a future, whose result can be fetched again', () =>
    withServer({}, async (server, provider) => {
      const id = await start(server);
      const [first, second] = [await retrieve(server, id), await retrieve(server, id)];
      expect(first.status).toBe(200);
      const result = await first.json();
      expect(result).toMatchObject({ type: 'sample', sequences: [{ stop_reason: 'length' }, {}] });
      expect(await second.json()).toEqual(result);
      expect(provider.stats()).toMatchObject({ completed: 1, inputTokens: 3, outputTokens: 8 });
    }));

  it('answers 408 while the result is pending, and says why', async () => {
    const clock = new ManualClock();
    await withServer(
      { clock, latency: 5000, concurrency: { units: 1 } },
      async (server) => {
        const [first, second] = [await start(server), await start(server)];
        const pending = await retrieve(server, first);
        expect(pending.status).toBe(408);
        expect(await pending.json()).toEqual({
          type: 'try_again',
          request_id: first,
          queue_state: 'active',
        });
        expect(await (await retrieve(server, second)).json()).toMatchObject({
          queue_state: 'paused_capacity',
        });
        await clock.advanceAsync(5000);
        expect((await retrieve(server, first)).status).toBe(200);
        expect(await (await retrieve(server, second)).json()).toMatchObject({
          queue_state: 'active',
        });
      },
      // An answer at once: the clock of this test stands still.
      { pollMs: 0 },
    );
  });

  it('waits for the result before it answers 408', async () => {
    const clock = new ManualClock();
    await withServer(
      { clock, latency: 500 },
      async (server) => {
        const id = await start(server);
        const response = retrieve(server, id);
        await until(() => clock.pendingTimers === 2);
        await clock.advanceAsync(500);
        expect((await response).status).toBe(200);
      },
      { pollMs: 1000 },
    );
  });

  it('answers 410 to an unknown or expired future', async () => {
    const clock = new ManualClock();
    await withServer(
      { clock },
      async (server) => {
        const id = await start(server);
        expect((await retrieve(server, id)).status).toBe(200);
        clock.advance(2000);
        expect((await retrieve(server, id)).status).toBe(410);
        expect((await retrieve(server, 'nobody')).status).toBe(410);
      },
      { futureTtlMs: 2000 },
    );
  });

  it('answers 429 without a word on limits or waiting', () =>
    withServer(
      { limits: [{ unit: 'requests', algorithm: 'fixed-window', limit: 1, windowMs: 60_000 }] },
      async (server) => {
        await start(server);
        const response = await post(server, '/api/v1/asample', sample);
        expect(response.status).toBe(429);
        const names = [...response.headers.keys()];
        expect(names.filter((name) => /retry|ratelimit/.test(name))).toEqual([]);
        expect(await response.json()).toHaveProperty('error');
      },
    ));

  it('tells of a failure in the result', () =>
    withServer({ failures: [{ fault: 'error', probability: 1 }] }, async (server) => {
      const response = await retrieve(server, await start(server));
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ category: 'server' });
    }));

  const wrong: [string, object, string][] = [
    ['no model', { prompt: sample.prompt }, 'base_model'],
    ['no prompt', { base_model: 'm' }, 'prompt'],
    ['no chunks', { base_model: 'm', prompt: { chunks: [] } }, 'chunks'],
    ['a strange chunk', { base_model: 'm', prompt: { chunks: [3] } }, 'prompt.chunks[0]'],
    ['no samples', { ...sample, num_samples: 0 }, 'num_samples'],
  ];

  it.each(wrong)('answers 400 to %s', (_name, body, names) =>
    withServer({}, async (server) => {
      const response = await post(server, '/api/v1/asample', body);
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({
        error: expect.stringContaining(names),
        category: 'user',
      });
    }),
  );

  it('wants a key when keys are configured', () =>
    withServer({ apiKeys: ['k'] }, async (server) => {
      const response = await post(server, '/api/v1/asample', sample, { 'x-api-key': 'wrong' });
      expect(response.status).toBe(401);
      expect((await post(server, '/api/v1/asample', sample, { 'x-api-key': 'k' })).status).toBe(
        200,
      );
    }));
});

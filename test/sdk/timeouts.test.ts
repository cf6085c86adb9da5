import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { expectIdle } from '../limiter/harness.ts';
import { until } from '../simulator/http/client.ts';
import { type Rig, start } from './rig.ts';

const TIMEOUT = { apiKey: 'key', maxRetries: 0, timeout: 2_000 };
const BODY = { model: 'm', max_tokens: 8, messages: [{ role: 'user' as const, content: 'hello' }] };

type Ask = (rig: Rig, fetch?: typeof globalThis.fetch) => Promise<unknown>;

const SDKS: [string, Ask][] = [
  [
    'openai',
    ({ server }, fetch) =>
      new OpenAI({ ...TIMEOUT, baseURL: `${server.url}/v1`, fetch }).chat.completions.create(BODY),
  ],
  [
    '@anthropic-ai/sdk',
    ({ server }, fetch) =>
      new Anthropic({ ...TIMEOUT, baseURL: server.url, fetch }).messages.create(BODY),
  ],
];

describe.concurrent.each(SDKS)('the timeout of %s', (_sdk, ask) => {
  it('by limiter.fetch ends a call that gets no answer, or that waits for its slot', async () => {
    await using rig = await start({}, () => ({ fault: 'hang' }), { concurrency: 1 });
    await expect(ask(rig, rig.limiter.fetch)).rejects.toThrow('timed out');
    await until(() => rig.server.requests[0]?.aborted === true);
    expectIdle(rig.limiter);
    const lease = await rig.limiter.acquire();
    await expect(ask(rig, rig.limiter.fetch)).rejects.toThrow('timed out');
    expect(rig.server.requests).toHaveLength(1);
    lease.release();
    expectIdle(rig.limiter);
  });

  it('inside limiter.run begins when the call does', async () => {
    await using rig = await start({}, undefined, { concurrency: 1 });
    const lease = await rig.limiter.acquire();
    const answer = rig.limiter.run(() => ask(rig));
    await new Promise((resolve) => setTimeout(resolve, TIMEOUT.timeout + 100));
    lease.release();
    expect(await answer).toMatchObject({ usage: {} });
    expectIdle(rig.limiter);
  });
});

import { ParentBasedSampler, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace';
import { range } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { createLimiter, createLimiterGroup, type Limiter } from '../../../src/index.ts';
import { aliveBytes, leastGrowth } from '../../support/memory.ts';
import { isLong } from '../../support/runs.ts';
import { type Sdk, startSdk } from '../../telemetry/sdk.ts';

const REQUESTS = isLong ? 1_000_000 : 20_000;
/** Bytes, after so many requests: ten of each would be above it. */
const GROWTH = isLong ? 1_000_000 : 200_000;
const WARM_UP = 10_000;
/** Of those that end in every way. */
const MIXED = isLong ? 5_000 : 500;
/** Of a group. */
const KEYS = isLong ? 10_000 : 1_000;
const OK = { 'headgate.outcome': 'ok' };
const NORMAL = { 'headgate.mode': 'normal' };

let sdk: Sdk;
afterEach(() => sdk.stop());

const turn = () => new Promise((resolve) => setTimeout(resolve));

const drained = (limiter: Limiter, count: number) =>
  new Promise<void>((complete) => {
    const send = limiter.throttle(async (n: number) => n);
    range(0, count).pipe(send).subscribe({ complete });
  });

/** Some of these requests are answered 429, others fail, some are given up. */
async function mixed(limiter: Limiter, count: number): Promise<void> {
  const answer = async (n: number, attempt: number) => {
    if (n % 100 === 0 && attempt === 1) throw Object.assign(new Error('busy'), { status: 429 });
    if (n % 7 === 0) throw new Error('mine');
    return n;
  };
  const given = new AbortController();
  const sent = Array.from({ length: count }, (_, n) =>
    limiter.run(({ attempt }) => answer(n, attempt), n % 11 === 0 ? { signal: given.signal } : {}),
  );
  given.abort();
  await Promise.allSettled(sent);
}

describe('memory does not grow with requests that have ended', () => {
  it.each([
    ['metrics', undefined],
    ['metrics, and spans of one of a hundred', 0.01],
  ])('over very many of them, with %s collected', async (_what, part) => {
    const root = new TraceIdRatioBasedSampler(part ?? 0);
    sdk = startSdk({ sampler: new ParentBasedSampler({ root }) });
    // One for all of them: what it kept of each would be there in the end.
    const spans = part === undefined ? 'off' : 'sampled';
    const limiter = createLimiter({ concurrency: 50, telemetry: { spans } });
    await drained(limiter, WARM_UP);
    await turn();
    await sdk.collect();
    sdk.forget();
    let [traced, sent] = [0, 0];
    const growth = await leastGrowth(GROWTH, async () => {
      for (let n = 0; n < 10; n += 1) {
        await drained(limiter, REQUESTS / 10);
        sent += REQUESTS / 10;
        await turn();
        await sdk.collect();
        traced += sdk.finished('headgate.request').length;
        sdk.forget();
      }
    });
    expect(growth).toBeLessThan(GROWTH);
    expect(Math.abs(traced - (part ?? 0) * sent)).toBeLessThan(REQUESTS / 200);
    const now = await sdk.collect();
    expect(now.value('headgate.requests', OK)).toBe(sent + WARM_UP);
    expect(now.value('headgate.request.active')).toBe(0);
  });

  it('with every outcome', async () => {
    sdk = startSdk();
    const limiter = createLimiter({
      concurrency: 20,
      backoff: { backoffMs: 1, throttledForMs: 0 },
    });
    await mixed(limiter, MIXED);
    await turn();
    sdk.forget();
    let sent = MIXED;
    const growth = await leastGrowth(GROWTH, async () => {
      for (let n = 0; n < 10; n += 1) {
        await mixed(limiter, MIXED);
        sent += MIXED;
        await turn();
        sdk.forget();
      }
    });
    expect(growth).toBeLessThan(GROWTH);
    const now = await sdk.collect();
    const ended = (outcome: string) =>
      now.value('headgate.requests', { 'headgate.outcome': outcome }) ?? 0;
    expect(ended('ok') + ended('failed') + ended('cancelled')).toBe(sent);
    for (const outcome of ['ok', 'failed', 'cancelled']) {
      expect(ended(outcome), outcome).toBeGreaterThan(MIXED / 2);
    }
    for (const { value } of now.points('headgate.request.queued')) expect(value).toBe(0);
  });
});

describe('series', () => {
  it('are as many for thousands of keys of a group as for two hundred', async () => {
    sdk = startSdk();
    const counted = async () => {
      const { metrics } = await sdk.collect();
      return metrics.map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints.length]);
    };
    const group = createLimiterGroup((key: string) => key, {
      each: { concurrency: 2, requestsPerMinute: 1_000 },
      shared: { concurrency: 100 },
    });
    const send = (count: number) =>
      Promise.all(Array.from({ length: count }, (_, n) => group.run(`key ${n}`, async () => n)));
    await send(200);
    const few = await counted();
    await send(KEYS);
    expect(group.keys.length).toBe(KEYS);
    expect(await counted()).toEqual(few);
    expect((await sdk.collect()).value('headgate.requests', OK)).toBe(KEYS + 200);
  });
});

describe('a limiter without references', () => {
  it('is removed, even if it was never closed, and its counts are kept', async () => {
    sdk = startSdk();
    const kept = createLimiter({ name: 'kept', concurrency: 3 });
    const make = async () => {
      for (let n = 0; n < 100; n += 1) {
        const limiter = createLimiter({ name: 'dropped', concurrency: 1, maxBytes: 1_000 });
        await limiter.run(async () => n);
      }
    };
    await make();
    const early = await sdk.collect();
    expect(early.value('headgate.concurrency.limit', NORMAL, 'dropped')).toBe(100);
    // What is still held by code that has just run may stay for a while.
    for (let n = 0; n < 5; n += 1) {
      await turn();
      aliveBytes();
    }
    const now = await sdk.collect();
    expect(now.value('headgate.concurrency.limit', NORMAL, 'dropped')).toBeLessThan(3);
    expect(now.value('headgate.byte_budget.limit', {}, 'dropped')).toBeLessThan(3_000);
    expect(now.value('headgate.requests', OK, 'dropped')).toBe(100);
    expect(now.value('headgate.concurrency.limit', NORMAL, 'kept')).toBe(3);
    kept.close();
  });
});

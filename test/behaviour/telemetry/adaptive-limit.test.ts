import { ManualClock } from 'headgate/simulator';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLimiter, type Lease, type LimiterOptions } from '../../../src/index.ts';
import { type Collected, type Sdk, startSdk } from '../../telemetry/sdk.ts';

let sdk: Sdk;
let clock: ManualClock;
beforeEach(() => {
  sdk = startSdk();
  clock = new ManualClock();
});
afterEach(() => sdk.stop());

const make = (options: LimiterOptions) => createLimiter({ clock, ...options });
const down = Object.assign(new Error('down'), { status: 503 });

/** What the gauge tells in a mode. */
function limitOf(now: Collected, mode = 'normal') {
  return now.value('headgate.concurrency.limit', { 'headgate.mode': mode });
}

/** How often each thing has changed, by why. */
function changes(now: Collected) {
  return Object.fromEntries(
    now
      .points('headgate.adaptations')
      .map(({ attributes, value }) => [
        `${attributes['headgate.what']} ${attributes['headgate.reason']}`,
        value,
      ]),
  );
}

describe('a concurrency limit that adapts', () => {
  it("is shown as it falls and recovers, with its interval, under adaptive: 'failures'", async () => {
    const limiter = make({
      concurrency: 8,
      adaptive: { strategy: 'failures', failureThreshold: 2, coolingMs: 1_000 },
      pace: { intervalMs: 100, jitter: 0 },
    });
    const shown = async () => {
      const now = await sdk.collect();
      return [limitOf(now), now.value('headgate.dispatch.interval'), changes(now)];
    };
    expect(await shown()).toEqual([8, 0.1, {}]);
    for (let n = 0; n < 2; n += 1) limiter.recordFailure(down);
    expect(await shown()).toEqual([4, 0.2, { 'concurrency failures': 1 }]);
    for (let n = 0; n < 2; n += 1) limiter.recordFailure(down);
    expect(await shown()).toEqual([2, 0.4, { 'concurrency failures': 2 }]);
    await clock.advanceAsync(2_000);
    expect(await shown()).toEqual([
      4,
      0.1,
      { 'concurrency failures': 2, 'concurrency recovered': 2 },
    ]);
  });

  it("is shown as it moves under adaptive: 'latency', and why", async () => {
    const limiter = make({
      concurrency: 50,
      adaptive: { strategy: 'latency', initialLimit: 20, backoffRatio: 0.5, windowMs: 10 },
    });
    expect(limitOf(await sdk.collect())).toBe(20);
    await clock.advanceAsync(5);
    (await limiter.acquire()).release('failed', down);
    const rejected = await sdk.collect();
    expect(limitOf(rejected)).toBe(10);
    expect(changes(rejected)).toEqual({ 'concurrency rejected': 1 });

    let told = 0;
    limiter.events$.subscribe(({ kind }) => {
      if (kind === 'limitAdapted') told += 1;
    });
    for (let n = 0; n < 20; n += 1) {
      const leases: Lease[] = [];
      for (let lease = limiter.tryAcquire(); lease; lease = limiter.tryAcquire())
        leases.push(lease);
      await clock.advanceAsync(10);
      for (const lease of leases) lease.release();
    }
    const grown = await sdk.collect();
    expect(limitOf(grown)).toBeGreaterThan(10);
    expect(limitOf(grown)).toBe(limiter.snapshot().concurrency.limit);
    expect(told).toBeGreaterThan(0);
    expect(changes(grown)).toEqual({ 'concurrency rejected': 1, 'concurrency latency': told });
  });

  it("is shown as the cap that rejections tell, under adaptive: 'rate'", async () => {
    const headers = { rate_limit_type: 'max_parallel_requests' };
    const full = Object.assign(new Error('full'), { status: 429, headers });
    const limiter = make({ concurrency: 50, random: () => 0.5 });
    const atFirst = limitOf(await sdk.collect());
    expect(atFirst).toBeGreaterThan(6);
    let inFlight = 0;
    const send = async () => {
      if (inFlight === 6) throw full;
      inFlight += 1;
      await new Promise<void>((resolve) => clock.setTimer(resolve, 20));
      inFlight -= 1;
    };
    const sent = Array.from({ length: 30 }, () => limiter.run(send));
    await clock.advanceAsync(60);
    const now = await sdk.collect();
    expect(limitOf(now)).toBe(6);
    // Under this strategy throttled mode needs no other slots.
    expect(limitOf(now, 'throttled')).toBe(6);
    expect(changes(now)).toMatchObject({ 'concurrency rejected': 1 });
    await clock.advanceAsync(60_000);
    await Promise.all(sent);
  });

  it('is the configured limit without adaptation', async () => {
    const limiter = make({ concurrency: 8, throttledConcurrency: 3, adaptive: false });
    (await limiter.acquire()).release('failed', down);
    const now = await sdk.collect();
    expect([limitOf(now), limitOf(now, 'throttled')]).toEqual([8, 3]);
    expect(changes(now)).toEqual({});
  });
});

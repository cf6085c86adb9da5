import { from, lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { chunkBy, RateLimitExceededError, Sized } from '../../../src/index.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { failing, listen, rig, script } from '../../limiter/rig.ts';
import { ApiError } from '../../request/harness.ts';

/** What was found by running the originals of the five seeds, or by reading them closely. */
describe('unlike in an original', () => {
  it('no chunk is ever empty', async () => {
    const sizes = [9, 1, 9, 9];
    const chunks = from(sizes.map((bytes, index) => new Sized(index, bytes))).pipe(
      chunkBy({ maxBytes: 5 }),
      toArray(),
    );
    const found = await lastValueFrom(chunks);
    expect(found.map(({ value }) => value.length)).toEqual([1, 1, 1, 1]);
  });

  it('a lowered limit admits no request while more are in flight', async () => {
    const { clock, limiter } = rig({
      concurrency: 4,
      adaptive: { strategy: 'failures', failureThreshold: 1 },
    });
    const { started, run, end } = script(limiter);
    for (let index = 0; index < 10; index += 1) run(`${index}`);
    limiter.recordFailure(new ApiError(500));
    let most = 0;
    for (let index = 0; index < 3; index += 1) {
      await clock.advanceAsync(0);
      most = Math.max(most, started.length - index);
      end(`${index}`);
    }
    await clock.advanceAsync(0);
    expect(most).toBe(4);
    expect(started).toHaveLength(5);
    expect(limiter.snapshot().concurrency).toMatchObject({ limit: 2, inFlight: 2 });
  });

  it('ten requests that wait for the pace are not sent together', async () => {
    const { clock, limiter } = rig({ pace: { intervalMs: 100, jitter: 0.5 }, random: () => 0.5 });
    await limiter.run(() => 'first');
    await clock.advanceAsync(50);
    const at: number[] = [];
    for (let count = 0; count < 10; count += 1) {
      fate(limiter.run(() => void at.push(clock.now())));
    }
    await clock.runAllAsync();
    expect(at).toEqual([125, 250, 375, 500, 625, 750, 875, 1000, 1125, 1250]);
  });

  it('the end of a backoff sends one request, not all waiting ones', async () => {
    const { clock, limiter } = rig({ adaptive: false });
    limiter.feedback.next({ kind: 'throttled', retryAfterMs: 100 });
    const { started, run, end } = script(limiter);
    for (let index = 0; index < 10; index += 1) run(`${index}`);
    await clock.advanceAsync(5000);
    expect(started).toEqual(['0']);
    end('0');
    await clock.advanceAsync(0);
    expect(started).toHaveLength(10);
  });

  it.each([
    ['is cancelled', 'cancelled', undefined],
    ['fails with what the predicate excludes', 'failed', new ApiError(418)],
  ] as const)('a probe that %s frees its place', async (_name, outcome, error) => {
    const { clock, limiter } = rig({
      circuitBreaker: { consecutiveFailures: 1, openMs: 100 },
      isFailure: ({ status }) => status !== 418,
    });
    await failing(limiter, 1, new ApiError(500));
    await clock.advanceAsync(100);
    (await limiter.acquire()).release(outcome, error);
    (await limiter.acquire()).release('ok');
    expect(limiter.snapshot().circuitBreaker).toMatchObject({ state: 'closed', probes: 0 });
  });

  it('the limit steps back up again and again, not only once', async () => {
    const { clock, limiter } = rig({
      concurrency: 8,
      adaptive: { strategy: 'failures', failureThreshold: 1, coolingMs: 1000 },
    });
    limiter.recordFailure(new ApiError(500));
    const limits: number[] = [];
    for (let step = 0; step < 5; step += 1) {
      await clock.advanceAsync(1000);
      limits.push(limiter.snapshot().concurrency.limit);
    }
    expect(limits).toEqual([5, 6, 7, 8, 8]);
  });

  it('a late failure does not reopen a closed circuit', async () => {
    const { clock, limiter } = rig({
      concurrency: 8,
      adaptive: { strategy: 'failures', failureThreshold: 1, coolingMs: 1000 },
    });
    const lease = await limiter.acquire();
    limiter.close();
    lease.release('failed', new ApiError(500));
    limiter.recordFailure(new ApiError(500));
    expect(limiter.snapshot().state).toBe('closed');
    await clock.advanceAsync(10_000);
    expect(limiter.snapshot().state).toBe('closed');
    await expect(limiter.acquire()).rejects.toMatchObject({ code: 'LIMITER_CLOSED' });
  });

  it('a request that one limit denies is not charged to the others', async () => {
    const { limiter } = rig({
      limits: { requests: { limit: 9, windowMs: 1000 }, tokens: { limit: 10, windowMs: 1000 } },
      onLimit: 'fail',
    });
    const events = listen(limiter);
    await limiter.run(() => 'first', { tokens: 8 });
    const denied = limiter.run(() => 'denied', { tokens: 5 });
    await expect(denied).rejects.toBeInstanceOf(RateLimitExceededError);
    expect(events).toMatchObject([{ kind: 'limitDenied', limit: 'tokens' }]);
    expect(limiter.snapshot().rateLimit).toMatchObject({
      requests: { used: 1 },
      tokens: { used: 8 },
    });
    expectIdle(limiter);
  });

  it('requests that waited for a limit are checked again, and never exceed it', async () => {
    const { clock, limiter } = rig({ limits: { units: { limit: 10, windowMs: 1000 } } });
    await limiter.run(() => 'first', { costs: { units: 10 } });
    const at: number[] = [];
    for (let count = 0; count < 5; count += 1) {
      fate(limiter.run(() => void at.push(clock.now()), { costs: { units: 6 } }));
    }
    await clock.runAllAsync();
    expect(at).toEqual([1000, 2000, 3000, 4000, 5000]);
  });
});

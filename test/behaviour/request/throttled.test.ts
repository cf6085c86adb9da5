import { EMPTY, NEVER, of, range } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, RetryAfterTooLongError, Sized, throttle } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { ApiError, failingWith, tooMany, watch } from '../../request/harness.ts';

describe('a request that was rejected', () => {
  it('is sent again after the backoff, and its value comes out once', async () => {
    const clock = new ManualClock();
    const { calls, project } = failingWith([tooMany(), tooMany(700)], () => clock.now());
    const seen = watch(of('a').pipe(throttle(project, { clock, adaptive: false })));
    await clock.advanceAsync(999);
    expect(calls).toEqual([0]);
    await clock.advanceAsync(1);
    expect(calls).toEqual([0, 1000]);
    await clock.runAllAsync();
    expect(calls).toEqual([0, 1000, 1700]);
    expect(seen.values).toEqual(['done']);
    expect(seen.state).toBe('complete');
    expect(clock.pendingTimers).toBe(0);
  });

  it('is retried if project throws at once', async () => {
    const clock = new ManualClock();
    const attempts: number[] = [];
    const project = (value: string, { attempt }: { attempt: number }) => {
      attempts.push(attempt);
      if (attempt < 3) throw tooMany();
      return of(value);
    };
    const seen = watch(of('a').pipe(throttle(project, { clock, adaptive: false })));
    await clock.runAllAsync();
    expect(attempts).toEqual([1, 2, 3]);
    expect(seen.values).toEqual(['a']);
  });

  it('waits longer if it is large', async () => {
    const clock = new ManualClock();
    const { calls, project } = failingWith([tooMany()], () => clock.now());
    watch(of(new Sized('a', 128 * 1024 + 1)).pipe(throttle(project, { clock, adaptive: false })));
    await clock.runAllAsync();
    expect(calls).toEqual([0, 5000]);
  });

  it('holds its leases while it waits', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, adaptive: false, concurrency: 2, maxBytes: 100 });
    const { project } = failingWith([tooMany()], () => clock.now());
    watch(of(new Sized('a', 60)).pipe(limiter.throttle(project)));
    await clock.advanceAsync(500);
    const held = limiter.snapshot();
    expect(held.backoff).toMatchObject({ waiting: 1, longestWaitMs: 500, state: 'closed' });
    expect(held.concurrency).toMatchObject({ inFlight: 1, waiting: 0 });
    expect(held.byteBudget).toMatchObject({ used: 60, balance: 40 });
    await clock.advanceAsync(500);
    const free = limiter.snapshot();
    expect(free.backoff).toMatchObject({ waiting: 0, longestWaitMs: 0, state: 'open' });
    expect(free.concurrency.inFlight).toBe(0);
    expect(free.byteBudget.used).toBe(0);
  });

  it('gets its index and its attempt', async () => {
    const clock = new ManualClock();
    const told: string[] = [];
    const project = async (
      value: number,
      { index, attempt }: { index: number; attempt: number },
    ) => {
      told.push(`${value}: index ${index}, attempt ${attempt}`);
      if (value === 8 && attempt < 3) throw tooMany();
    };
    watch(range(7, 3).pipe(throttle(project, { clock, adaptive: false })));
    await clock.runAllAsync();
    expect(told).toEqual([
      '7: index 0, attempt 1',
      '8: index 1, attempt 1',
      '9: index 2, attempt 1',
      '8: index 1, attempt 2',
      '8: index 1, attempt 3',
    ]);
  });

  it('is sent again and again, a hundred times if need be', async () => {
    const clock = new ManualClock();
    const errors = Array.from({ length: 100 }, (_, i) =>
      i % 2 ? new ApiError(429) : new ApiError(529),
    );
    const { calls, project } = failingWith(errors, () => clock.now());
    const seen = watch(of('a').pipe(throttle(project, { clock, adaptive: false })));
    await clock.runAllAsync();
    expect(calls.length).toBe(101);
    expect(seen.values).toEqual(['done']);
  });

  it('is not sent more than maxAttempts times', async () => {
    const clock = new ManualClock();
    const errors = [tooMany(1), new ApiError(503), tooMany(3), tooMany(4)];
    const { calls, project } = failingWith(errors, () => clock.now());
    const seen = watch(of('a').pipe(throttle(project, { clock, adaptive: false, maxAttempts: 3 })));
    await clock.runAllAsync();
    expect(calls.length).toBe(3);
    expect(seen.error).toBe(errors[2]);
  });

  it('is not retried if the provider sends x-should-retry: false', async () => {
    const clock = new ManualClock();
    const error = new ApiError(429, { 'X-Should-Retry': 'false', 'retry-after-ms': '50' });
    const limiter = createLimiter({ clock, adaptive: false });
    const { calls, project } = failingWith([error], () => clock.now());
    const seen = watch(of('a').pipe(limiter.throttle(project)));
    await clock.runAllAsync();
    expect(calls).toEqual([0]);
    expect(seen.error).toBe(error);
    // It closes the gate for the others all the same.
    expect(limiter.feedback.backoffUntil).toBe(50);
  });

  it('fails if the provider names too long a wait, and says so', async () => {
    const clock = new ManualClock();
    const error = tooMany(600_001);
    const { calls, project } = failingWith([error], () => clock.now());
    const seen = watch(of('a').pipe(throttle(project, { clock, adaptive: false })));
    await clock.runAllAsync();
    expect(calls).toEqual([0]);
    expect(seen.error).toBeInstanceOf(RetryAfterTooLongError);
    expect(seen.error).toMatchObject({
      code: 'RETRY_AFTER_TOO_LONG',
      retryAfterMs: 600_001,
      maxRetryAfterMs: 600_000,
      cause: error,
    });
  });

  it('waits as long as maxRetryAfterMs', async () => {
    const clock = new ManualClock();
    const { calls, project } = failingWith([tooMany(600_000)], () => clock.now());
    watch(of('a').pipe(throttle(project, { clock, adaptive: false })));
    await clock.runAllAsync();
    expect(calls).toEqual([0, 600_000]);
  });
});

describe('a backoff', () => {
  it('keeps newcomers waiting, which hold nothing', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, adaptive: false, concurrency: 5 });
    limiter.feedback.next({ kind: 'throttled' });
    const seen = watch(range(0, 9).pipe(limiter.throttle((value) => of(value))));
    expect(limiter.snapshot().backoff.waiting).toBe(9);
    expect(limiter.snapshot().concurrency).toMatchObject({ inFlight: 0, waiting: 0 });
    expect(seen.values).toEqual([]);
    await clock.runAllAsync();
    expect(seen.values).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('leaves no timer when all are unsubscribed', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, adaptive: false });
    const { project } = failingWith([tooMany()], () => clock.now());
    const retrying = watch(of('a').pipe(limiter.throttle(project, {})));
    await clock.advanceAsync(1);
    const newcomer = watch(of('b').pipe(limiter.throttle(() => NEVER)));
    expect(limiter.snapshot().backoff.waiting).toBe(2);
    expect(clock.pendingTimers).toBe(1);
    retrying.subscription.unsubscribe();
    expect(limiter.snapshot().backoff.waiting).toBe(1);
    newcomer.subscription.unsubscribe();
    expect(limiter.snapshot()).toMatchObject({
      backoff: { waiting: 0 },
      concurrency: { inFlight: 0 },
      byteBudget: { used: 0 },
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not begin without a rejection', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, adaptive: false });
    watch(of(1, 2).pipe(limiter.throttle(() => EMPTY)));
    expect(limiter.snapshot().backoff).toMatchObject({ state: 'open', epoch: 0 });
  });
});

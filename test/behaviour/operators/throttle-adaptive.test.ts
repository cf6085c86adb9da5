import { BehaviorSubject, range } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type Clock, type ThrottleOptions, throttle } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { ApiError, pending, watch } from '../../request/harness.ts';

describe('an adaptive limit in throttle', () => {
  function inFlight(options: ThrottleOptions<number>) {
    const clock = new ManualClock();
    const calls: ReturnType<typeof pending<void>>[] = [];
    const send = () => {
      const call = pending<void>();
      calls.push(call);
      return call.promise;
    };
    const all = { clock, outcomes: true, maxAttempts: 1, ...options } as const;
    const seen = watch(range(0, 1_000).pipe(throttle(send, all)));
    let ended = 0;
    const end = async (count: number, error?: unknown, ms = 0) => {
      await clock.advanceAsync(ms);
      for (const call of calls.slice(ended, ended + count)) {
        if (error === undefined) call.resolve();
        else call.reject(error);
      }
      ended += count;
      await clock.advanceAsync(0);
    };
    return { clock, seen, end, out: () => calls.length - ended };
  }

  it('to failures is halved by failures, and grows back one by one', async () => {
    const { end, out, clock, seen } = inFlight({ concurrency: 8, adaptive: 'failures' });
    expect(out()).toBe(8);
    await end(3, new ApiError(500));
    // Two of them made room before the third halved the limit.
    expect(out()).toBe(7);
    await end(3);
    expect(out()).toBe(4);
    await clock.advanceAsync(60_000);
    expect(out()).toBe(5);
    await clock.advanceAsync(60_000);
    expect(out()).toBe(6);
    seen.subscription.unsubscribe();
    expect(clock.pendingTimers).toBe(0);
  });

  it('to failures follows a stream of concurrencies, below it', async () => {
    const concurrency = new BehaviorSubject(8);
    const { end, out } = inFlight({ concurrency, adaptive: 'failures' });
    expect(out()).toBe(8);
    await end(3, new ApiError(500));
    await end(5);
    expect(out()).toBe(4);
    concurrency.next(20);
    expect(out()).toBe(4);
    concurrency.next(2);
    await end(4);
    expect(out()).toBe(2);
  });

  it('to latency starts at 20 and is cut by an overload', async () => {
    const { end, out } = inFlight({ concurrency: 100, adaptive: 'latency' });
    expect(out()).toBe(20);
    await end(1, new ApiError(529), 10);
    expect(out()).toBe(19);
    await end(2, undefined, 10);
    expect(out()).toBe(18);
  });

  it('to latency follows a stream of concurrencies too', () => {
    const concurrency = new BehaviorSubject(5);
    const { out } = inFlight({ concurrency, adaptive: { strategy: 'latency', initialLimit: 9 } });
    expect(out()).toBe(5);
  });
});

describe('the timer of an adaptive limit', () => {
  it('does not keep the process alive, as no request waits for it', () => {
    const clock = new ManualClock();
    const kept: (boolean | undefined)[] = [];
    const noting: Clock = {
      now: () => clock.now(),
      setTimer: (callback, delayMs, keepAlive) => {
        kept.push(keepAlive);
        return clock.setTimer(callback, delayMs);
      },
    };
    const adaptive = { strategy: 'failures', initialLimit: 1 } as const;
    const options = { clock: noting, adaptive, requestsPerMinute: 1 };
    const seen = watch(range(0, 2).pipe(throttle((value) => [value], options)));
    // One to check the options, one for the limit, and one for the request that waits.
    expect(kept).toEqual([false, false, true]);
    seen.subscription.unsubscribe();
    expect(clock.pendingTimers).toBe(0);
  });
});

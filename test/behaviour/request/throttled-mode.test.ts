import { map, range } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, Sized } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { type Pending, pending, tooMany, watch } from '../../request/harness.ts';

function make(options = {}) {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, backoff: { reopen: 'all' }, ...options });
  const calls: Pending<string>[] = [];
  const send = () => {
    const call = pending<string>();
    calls.push(call);
    return call.promise;
  };
  const start = (count: number, bytes: number) =>
    watch(
      range(0, count).pipe(
        map((value) => new Sized(value, bytes)),
        limiter.throttle(send),
      ),
    );
  return { clock, limiter, calls, start };
}

describe('in throttled mode', () => {
  it('ten requests are in flight, and the rest come when it ends', async () => {
    const { clock, limiter, calls, start } = make();
    limiter.feedback.next({ kind: 'throttled' });
    start(50, 1);
    await clock.advanceAsync(10_999);
    expect(calls.length).toBe(10);
    expect(limiter.snapshot().concurrency).toMatchObject({
      inFlight: 10,
      throttledInFlight: 10,
      waiting: 40,
    });
    calls[0]?.resolve('done');
    await clock.advanceAsync(0);
    expect(calls.length).toBe(11);
    await clock.advanceAsync(1);
    expect(calls.length).toBe(50);
    expect(limiter.snapshot().concurrency).toMatchObject({ inFlight: 49, throttledInFlight: 10 });
  });

  it('requests count that are admitted then, not those in flight', async () => {
    const { clock, limiter, calls, start } = make();
    start(100, 1);
    expect(calls.length).toBe(100);
    limiter.feedback.next({ kind: 'throttled' });
    await clock.advanceAsync(1000);
    start(50, 1);
    expect(calls.length).toBe(110);
    expect(limiter.snapshot().concurrency).toMatchObject({ inFlight: 110, throttledInFlight: 10 });
  });

  it('bytes count twenty times, and what was charged is given back when it is over', async () => {
    const { clock, limiter, calls, start } = make({ maxBytes: 1000 });
    limiter.feedback.next({ kind: 'throttled' });
    start(9, 20);
    await clock.advanceAsync(1000);
    // 400 each: 0, 400 and 800 are not above 1000; 1200 is.
    expect(calls.length).toBe(3);
    expect(limiter.snapshot().byteBudget).toMatchObject({ used: 1200, balance: -200 });
    await clock.advanceAsync(60_000);
    expect(calls.length).toBe(3);
    calls[0]?.resolve('done');
    await clock.advanceAsync(0);
    // 800 of old, then 20 each: all six fit.
    expect(limiter.snapshot().byteBudget.used).toBe(800 + 6 * 20);
    for (const call of calls) call.resolve('done');
    await clock.advanceAsync(0);
    expect(limiter.snapshot().byteBudget).toMatchObject({ used: 0, balance: 1000 });
    expect(limiter.snapshot().concurrency).toMatchObject({ inFlight: 0, throttledInFlight: 0 });
  });

  it('a request that is retried goes on with the leases of normal mode', async () => {
    const { clock, limiter, calls, start } = make({ maxBytes: 1000 });
    start(1, 30);
    calls[0]?.reject(tooMany());
    await clock.advanceAsync(1000);
    expect(calls.length).toBe(2);
    expect(limiter.snapshot().byteBudget.used).toBe(30);
    expect(limiter.snapshot().concurrency.throttledInFlight).toBe(0);
  });
});

describe('a burst of rejections', () => {
  it('of one epoch is one backoff, and takes the longest wait', async () => {
    const { clock, limiter, calls, start } = make();
    start(100, 1);
    const waits = Array.from({ length: 100 }, (_, index) => 100 + ((index * 37) % 100) * 10);
    calls.forEach((call, index) => {
      call.reject(tooMany(waits[index]));
    });
    await clock.advanceAsync(0);
    expect(limiter.feedback.epoch).toBe(1);
    expect(limiter.feedback.backoffUntil).toBe(Math.max(...waits));
    expect(limiter.snapshot().backoff.waiting).toBe(100);
    await clock.advanceAsync(Math.max(...waits) - 1);
    expect(calls.length).toBe(100);
    await clock.advanceAsync(1);
    expect(calls.length).toBe(200);
  });

  it('of attempts from before it is not counted when it comes late', async () => {
    const { clock, limiter, calls, start } = make();
    start(3, 1);
    calls[0]?.reject(tooMany());
    await clock.advanceAsync(1000);
    expect(calls.length).toBe(4);
    calls[1]?.reject(tooMany());
    await clock.advanceAsync(0);
    expect(limiter.feedback.epoch).toBe(1);
    expect(limiter.feedback.backoffUntil).toBe(2000);
    calls[3]?.reject(tooMany());
    await clock.advanceAsync(0);
    expect(limiter.feedback.epoch).toBe(2);
  });
});

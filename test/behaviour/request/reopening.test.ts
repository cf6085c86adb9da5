import { range, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { backoffGate, createLimiter, dispatch, FeedbackSubject } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { ApiError, type Pending, pending, tooMany, watch } from '../../request/harness.ts';

/** Requests wait behind a backoff of a second; each call is answered by the test. */
function behindBackoff(count: number, options = {}) {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, throttledConcurrency: 100, ...options });
  const calls: Pending<string>[] = [];
  const send = () => {
    const call = pending<string>();
    calls.push(call);
    return call.promise;
  };
  limiter.feedback.next({ kind: 'throttled' });
  const seen = watch(range(0, count).pipe(limiter.throttle(send, { outcomes: true })));
  return { clock, limiter, calls, seen, send };
}

describe('reopening with a probe', () => {
  it('admits one request, and all others when it has succeeded', async () => {
    const { clock, limiter, calls } = behindBackoff(50);
    await clock.advanceAsync(999);
    expect(calls.length).toBe(0);
    await clock.advanceAsync(1);
    expect(calls.length).toBe(1);
    expect(limiter.snapshot().backoff).toMatchObject({ state: 'probing', waiting: 49 });
    await clock.advanceAsync(60_000);
    expect(calls.length).toBe(1);
    // That of the attempt alone.
    expect(clock.pendingTimers).toBe(1);
    calls[0]?.resolve('good');
    await clock.advanceAsync(0);
    expect(calls.length).toBe(50);
    expect(limiter.snapshot().backoff).toMatchObject({ state: 'open', waiting: 0 });
  });

  it('closes again when the probe is rejected, and sends another one', async () => {
    const { clock, limiter, calls } = behindBackoff(5);
    await clock.advanceAsync(1000);
    calls[0]?.reject(tooMany(3000));
    await clock.advanceAsync(2999);
    expect(calls.length).toBe(1);
    expect(limiter.snapshot().backoff).toMatchObject({ state: 'closed', waiting: 5, epoch: 2 });
    await clock.advanceAsync(1);
    expect(calls.length).toBe(2);
    calls[1]?.resolve('good');
    await clock.advanceAsync(0);
    expect(calls.length).toBe(6);
  });

  it.each([
    ['for good', new ApiError(400)],
    ['for a passing reason', new ApiError(500)],
    ['in the code of the user', new TypeError('x')],
  ])('sends the next probe at once when one fails %s', async (_name, error) => {
    const { clock, calls } = behindBackoff(5);
    await clock.advanceAsync(1000);
    calls[0]?.reject(error);
    await clock.advanceAsync(0);
    expect(calls.length).toBe(2);
    calls[1]?.resolve('good');
    await clock.advanceAsync(0);
    expect(calls.length).toBeGreaterThanOrEqual(5);
  });

  it('sends the next probe at once when one is unsubscribed', async () => {
    const { clock, limiter, calls, seen, send } = behindBackoff(3);
    const other = watch(range(0, 3).pipe(limiter.throttle(send)));
    await clock.advanceAsync(1000);
    expect(calls.length).toBe(1);
    seen.subscription.unsubscribe();
    expect(calls.length).toBe(2);
    expect(limiter.snapshot().backoff).toMatchObject({ state: 'probing', waiting: 2 });
    for (const call of calls) call.resolve('good');
    await clock.advanceAsync(0);
    for (const call of calls) call.resolve('good');
    await clock.advanceAsync(0);
    expect(other.values.length).toBe(3);
  });

  it('is not ended by an answer to an earlier attempt', async () => {
    const { clock, limiter, calls, send } = behindBackoff(0);
    await clock.advanceAsync(1000);
    const source = new Subject<number>();
    watch(source.pipe(limiter.throttle(send, { outcomes: true })));
    source.next(0);
    calls[0]?.resolve('good');
    await clock.advanceAsync(0);
    source.next(1);
    source.next(2);
    calls[1]?.reject(tooMany());
    await clock.advanceAsync(500);
    calls[2]?.resolve('sent before the 429');
    await clock.advanceAsync(500);
    source.next(3);
    expect(calls.length).toBe(4);
    expect(limiter.snapshot().backoff).toMatchObject({ state: 'probing', waiting: 1 });
  });
});

describe('reopening for all', () => {
  it('sends all requests exactly at the end', async () => {
    const { clock, calls } = behindBackoff(50, { backoff: { reopen: 'all' } });
    await clock.advanceAsync(999);
    expect(calls.length).toBe(0);
    await clock.advanceAsync(1);
    expect(calls.length).toBe(50);
  });
});

describe('operators that share a feedback', () => {
  it('back off together and reopen with one probe between them', async () => {
    const clock = new ManualClock();
    const feedback = new FeedbackSubject({ clock });
    const calls: Pending<string>[] = [];
    const send = () => {
      const call = pending<string>();
      calls.push(call);
      return call.promise;
    };
    const run = () =>
      watch(range(0, 2).pipe(backoffGate({ feedback }), dispatch(send, { feedback })));
    const streams = [run(), run()];
    expect(calls.length).toBe(4);
    calls[0]?.reject(tooMany());
    await clock.advanceAsync(0);
    calls[3]?.reject(tooMany(2000));
    await clock.advanceAsync(1999);
    expect(calls.length).toBe(4);
    await clock.advanceAsync(1);
    expect(calls.length).toBe(5);
    calls[4]?.resolve('good');
    await clock.advanceAsync(0);
    expect(calls.length).toBe(6);
    for (const call of calls) call.resolve('good');
    await clock.advanceAsync(0);
    expect(streams.map(({ state }) => state)).toEqual(['complete', 'complete']);
  });
});

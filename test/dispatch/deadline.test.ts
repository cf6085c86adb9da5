import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, throttle } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { ApiError, failingWith, tooMany, watch } from './harness.ts';

describe('a deadline', () => {
  it('ends the wait at the backoff gate, with the last error, and nothing is held', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, adaptive: false, deadlineMs: 1500 });
    const errors = [tooMany(), tooMany(5000)];
    const { calls, project } = failingWith(errors, () => clock.now());
    const seen = watch(of('a').pipe(limiter.throttle(project)));
    await clock.advanceAsync(1499);
    expect(limiter.snapshot().backoff.waiting).toBe(1);
    expect(seen.state).toBe('open');
    await clock.advanceAsync(1);
    expect(calls).toEqual([0, 1000]);
    expect(seen.error).toBe(errors[1]);
    expect(limiter.snapshot()).toMatchObject({
      backoff: { waiting: 0 },
      concurrency: { inFlight: 0 },
      byteBudget: { used: 0 },
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it('disturbs nobody else at the gate', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, deadlineMs: 2000 });
    const { project } = failingWith([tooMany(5000)], () => clock.now());
    const early = watch(of('a').pipe(limiter.throttle(project)));
    await clock.advanceAsync(1500);
    const late = watch(of('b').pipe(limiter.throttle((value) => of(value))));
    await clock.advanceAsync(500);
    expect(early.state).toBe('error');
    expect(limiter.snapshot().backoff.waiting).toBe(1);
    await clock.runAllAsync();
    expect(late.values).toEqual(['b']);
  });

  it('forbids a delay that would end after it', async () => {
    const clock = new ManualClock();
    const error = new ApiError(500, { 'retry-after': '2' });
    const { calls, project } = failingWith([error, error], () => clock.now());
    const seen = watch(of('a').pipe(throttle(project, { clock, deadlineMs: 4000 })));
    await clock.advanceAsync(2000);
    expect(calls).toEqual([0, 2000]);
    expect(seen.error).toBe(error);
  });

  it('counts from the arrival of the request, not from its first attempt', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, deadlineMs: 1900 });
    limiter.feedback.next({ kind: 'throttled' });
    const { calls, project } = failingWith([tooMany(700), tooMany(700)], () => clock.now());
    const seen = watch(of('a').pipe(limiter.throttle(project)));
    await clock.runAllAsync();
    expect(calls).toEqual([1000, 1700]);
    expect(seen.state).toBe('error');
    expect(clock.now()).toBe(1900);
  });

  it('does not end an attempt that runs, nor a success after it', async () => {
    const clock = new ManualClock();
    const project = () =>
      new Promise<string>((resolve) => {
        clock.setTimer(() => resolve('late'), 300);
      });
    const seen = watch(of('a').pipe(throttle(project, { clock, deadlineMs: 100 })));
    await clock.runAllAsync();
    expect(seen.values).toEqual(['late']);
  });

  it('of nothing, as maxAttempts of 1, means one attempt', async () => {
    for (const options of [{ deadlineMs: 0 }, { maxAttempts: 1 }]) {
      const clock = new ManualClock();
      const { calls, project } = failingWith([tooMany()], () => clock.now());
      const seen = watch(of('a').pipe(throttle(project, { clock, ...options })));
      await clock.runAllAsync();
      expect(calls).toEqual([0]);
      expect(seen.state).toBe('error');
    }
  });
});

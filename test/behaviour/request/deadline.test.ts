import { Observable, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  type AttemptContext,
  createLimiter,
  DeadlineExceededError,
  throttle,
} from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { expectIdle, fate } from '../../limiter/harness.ts';
import { ApiError, failingWith, tooMany, watch } from '../../request/harness.ts';

describe('a deadline', () => {
  it('ends the wait at the backoff gate, and nothing is held', async () => {
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
    expect(seen.error).toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      where: 'backoff',
      cause: errors[1],
    });
    expect(limiter.snapshot()).toMatchObject({
      backoff: { waiting: 0 },
      concurrency: { inFlight: 0 },
      byteBudget: { used: 0 },
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it('affects no other request at the gate', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, deadlineMs: 2000 });
    const { project } = failingWith([tooMany(3000)], () => clock.now());
    const early = watch(of('a').pipe(limiter.throttle(project)));
    await clock.advanceAsync(1500);
    const late = watch(of('b').pipe(limiter.throttle((value) => of(value))));
    await clock.advanceAsync(500);
    expect(early.state).toBe('error');
    expect(limiter.snapshot().backoff.waiting).toBe(1);
    await clock.runAllAsync();
    expect(late.values).toEqual(['b']);
  });

  it('ends a request whose delay would pass it, with a DeadlineExceededError', async () => {
    const clock = new ManualClock();
    const error = new ApiError(500, { 'retry-after': '2' });
    const { calls, project } = failingWith([error, error], () => clock.now());
    const seen = watch(of('a').pipe(throttle(project, { clock, deadlineMs: 4000 })));
    await clock.advanceAsync(2000);
    expect(calls).toEqual([0, 2000]);
    expect(clock.now()).toBe(2000);
    expect(seen.error).toBeInstanceOf(DeadlineExceededError);
    expect(seen.error).toMatchObject({ where: 'backoff', cause: error });
  });

  it('keeps an error that is not retried anyway', async () => {
    const clock = new ManualClock();
    const error = new ApiError(400);
    const { project } = failingWith([error], () => clock.now());
    const seen = watch(of('a').pipe(throttle(project, { clock, deadlineMs: 4000 })));
    await clock.runAllAsync();
    expect(seen.error).toBe(error);
  });

  it('keeps a Response as the result if there is no time for another attempt', async () => {
    const clock = new ManualClock();
    const answer = new Response('', { status: 500, headers: { 'retry-after': '5' } });
    const seen = watch(of('a').pipe(throttle(async () => answer, { clock, deadlineMs: 4000 })));
    await clock.runAllAsync();
    expect(seen.values).toEqual([answer]);
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

  it.each(['a promise', 'an Observable'])('ends an attempt that runs, of %s', async (what) => {
    const clock = new ManualClock();
    const aborts: unknown[] = [];
    let torn = 0;
    const project = (_value: string, { signal }: AttemptContext) => {
      signal.addEventListener('abort', () => aborts.push(signal.reason));
      return what === 'a promise'
        ? new Promise<string>(() => {})
        : new Observable(() => () => (torn += 1));
    };
    const limiter = createLimiter({ clock, deadlineMs: 100 });
    const seen = watch(of('a').pipe(limiter.throttle(project)));
    await clock.advanceAsync(99);
    expect(seen.state).toBe('open');
    await clock.advanceAsync(1);
    expect(seen.error).toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      message: 'the request did not end within its deadline of 100 ms (attempt)',
      where: 'attempt',
    });
    expect(aborts).toEqual([seen.error]);
    expect(torn).toBe(what === 'a promise' ? 0 : 1);
    expectIdle(limiter);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends the wait for an attempt, with the last error as cause', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, deadlineMs: 500, concurrency: 1, random: () => 0 });
    const error = new ApiError(500);
    const hung = fate(
      limiter.run(({ attempt }) => (attempt === 1 ? Promise.reject(error) : new Promise(() => {}))),
    );
    const waits = fate(limiter.run(async () => 'never'));
    const lease = fate(limiter.acquire());
    await clock.advanceAsync(499);
    expect([hung.state, waits.state, lease.state]).toEqual(['open', 'open', 'open']);
    await clock.advanceAsync(1);
    expect(hung.error).toMatchObject({ code: 'DEADLINE_EXCEEDED', where: 'attempt', cause: error });
    expect(waits.error).toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      where: 'waiting',
      deadlineMs: 500,
    });
    expect(lease.error).toMatchObject({ code: 'DEADLINE_EXCEEDED', where: 'waiting' });
    expectIdle(limiter);
    expect(clock.pendingTimers).toBe(0);
  });

  it('or a bound on the wait ends the request, whichever is shorter', async () => {
    const clock = new ManualClock();
    const bounds = { concurrency: 1, waitTimeoutMs: 300, deadlineMs: 500 };
    const limiter = createLimiter({ clock, ...bounds });
    fate(limiter.run(() => new Promise(() => {})));
    const waits = fate(limiter.run(async () => 'never'));
    await clock.advanceAsync(300);
    expect(waits.error).toMatchObject({ code: 'WAIT_TIMEOUT' });
    limiter.configure({ waitTimeoutMs: 1_000 });
    const next = fate(limiter.run(() => new Promise(() => {})));
    const late = fate(limiter.run(async () => 'never'));
    await clock.advanceAsync(500);
    expect(late.error).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect(next.error).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });

  it('does not affect a request that ends before it', async () => {
    const clock = new ManualClock();
    const project = () => new Promise((resolve) => clock.setTimer(() => resolve('in time'), 99));
    const seen = watch(of('a').pipe(throttle(project, { clock, deadlineMs: 100 })));
    await clock.runAllAsync();
    expect(seen.values).toEqual(['in time']);
    expect(clock.now()).toBe(99);
  });

  it('that leaves no time for a retry, as maxAttempts of 1, means one attempt', async () => {
    for (const options of [{ deadlineMs: 1, adaptive: false } as const, { maxAttempts: 1 }]) {
      const clock = new ManualClock();
      const { calls, project } = failingWith([tooMany()], () => clock.now());
      const seen = watch(of('a').pipe(throttle(project, { clock, ...options })));
      await clock.runAllAsync();
      expect(calls).toEqual([0]);
      expect(seen.state).toBe('error');
    }
  });
});

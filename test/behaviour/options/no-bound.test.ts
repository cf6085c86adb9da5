import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createLimiter, dispatch, throttle } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import { expectIdle } from '../../limiter/harness.ts';
import { watch } from '../../request/harness.ts';

const { POSITIVE_INFINITY: none } = Number;
const failure = (status: number) => Object.assign(new Error(`${status}`), { status });

/** Fails some times, and then goes well. */
function failing(times: number, status: number): () => Promise<number> {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls <= times) throw failure(status);
    return calls;
  };
}

describe('an option that says "none"', () => {
  it('is `circuitBreaker: false`', async () => {
    const clock = new ManualClock();
    const options = { clock, circuitBreaker: false, failedAttempts: 1 };
    const limiter = createLimiter(options);
    const ends = Array.from({ length: 20 }, () => limiter.run(failing(1, 500)).catch(String));
    await clock.runAllAsync();
    expect(new Set(await Promise.all(ends))).toEqual(new Set(['Error: 500']));
    expect(limiter.circuit).toBeUndefined();
    expect(limiter.snapshot().circuitBreaker).toBeUndefined();
    expect(watch(of(1).pipe(throttle(failing(0, 500), options))).error).toBeUndefined();
  });

  it('is `timeoutMs: Infinity`, for a call that waits and for a lease', async () => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, concurrency: 1, attemptTimeoutMs: none });
    const task = () => new Promise<void>((end) => clock.setTimer(() => end(), 1e6));
    const long = limiter.run(task, { timeoutMs: none });
    const lease = limiter.acquire({ timeoutMs: none });
    await clock.runAllAsync();
    await long;
    (await lease).release();
    expectIdle(limiter);
    const signal = AbortSignal.abort('gone');
    await expect(limiter.run(async () => 1, { timeoutMs: none, signal })).rejects.toBe('gone');
    expect(() => limiter.run(async () => 1, { timeoutMs: -none })).toThrow('`timeoutMs` must be');
  });

  it.each([
    ['maxAttempts', 429],
    ['failedAttempts', 500],
  ])('is `%s: Infinity`', async (name, status) => {
    const clock = new ManualClock();
    const limiter = createLimiter({ clock, adaptive: false, [name]: none });
    const call = limiter.run(failing(9, status));
    await clock.runAllAsync();
    expect(await call).toBe(10);
  });

  it('is allowed in `dispatch` as in `throttle`', () => {
    const bounds = { maxAttempts: none, failedAttempts: none, attemptTimeoutMs: none };
    expect(() => dispatch(async () => 1, { ...bounds, deadlineMs: none })).not.toThrow();
    expect(() => throttle(async () => 1, { ...bounds, deadlineMs: none })).not.toThrow();
    expect(() => dispatch(async () => 1, { maxAttempts: 0 })).toThrow(
      '`maxAttempts` must be an integer >= 1 or Infinity, got 0',
    );
  });
});

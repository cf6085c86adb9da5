import { describe, expect, it } from 'vitest';
import { JobLockLostError, JobLocks } from '../../src/bullmq/job-locks.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';

const DURATION_MS = 3_000;

function rig({ answersAfterMs = 0, error = undefined as Error | undefined } = {}) {
  const clock = new ManualClock();
  const calls: (readonly string[])[] = [];
  const errors: unknown[] = [];
  const locks = new JobLocks({
    extend: async (ids) => {
      calls.push(ids);
      if (error !== undefined) throw error;
      if (answersAfterMs > 0) {
        await new Promise<void>((resolve) => clock.setTimer(resolve, answersAfterMs));
      }
      return [];
    },
    durationMs: DURATION_MS,
    clock,
    onError: (error) => errors.push(error),
  });
  return { clock, calls, errors, locks };
}

describe('JobLocks', () => {
  it('renews all at a third of their time, and nothing once all are released', async () => {
    const { clock, calls, locks } = rig();
    const held = [locks.hold('a', '1', 0), locks.hold('b', '2', 0)];
    await clock.advanceAsync(2_500);
    expect(calls).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    for (const lock of held) locks.release(lock);
    expect(clock.pendingTimers).toBe(0);
    const next = locks.hold('c', '3', clock.now());
    await clock.advanceAsync(1_500);
    expect(calls.slice(2)).toEqual([['c']]);
    locks.release(next);
  });

  it('renews nothing more if all are released while the queue is asked', async () => {
    const { clock, locks } = rig({ answersAfterMs: 100 });
    const lock = locks.hold('a', '1', 0);
    await clock.advanceAsync(1_050);
    locks.release(lock);
    await clock.advanceAsync(200);
    expect(clock.pendingTimers).toBe(0);
  });

  it('knows for how long a lock is held, by the time of the last renewal', async () => {
    const { clock, locks } = rig();
    const lock = locks.hold('a', '1', 0);
    await clock.advanceAsync(3_500);
    expect(locks.isStale(lock)).toBe(false);
    locks.release(lock);
    await clock.advanceAsync(2_499);
    expect(locks.isStale(lock)).toBe(false);
    await clock.advanceAsync(1);
    expect(locks.isStale(lock)).toBe(true);
  });

  it('loses a lock that cannot be confirmed, with no error of the store for the limiter', async () => {
    const error = new Error('connect ECONNREFUSED 127.0.0.1:6379');
    const { errors, locks } = rig({ error });
    const lock = locks.hold('a', '1', -DURATION_MS);
    await expect(locks.confirm(lock)).rejects.toBeInstanceOf(JobLockLostError);
    expect(lock.abort.signal.reason).toBeInstanceOf(JobLockLostError);
    expect(errors).toEqual([error]);
    locks.release(lock);
  });

  it('has one timer, though jobs go and come while the queue is asked', async () => {
    const { clock, calls, locks } = rig({ answersAfterMs: 100 });
    for (let n = 0; n < 10; n += 1) {
      const lock = locks.hold(`job ${n}`, '1', clock.now());
      await clock.advanceAsync(1_050);
      locks.release(lock);
    }
    const last = locks.hold('last', '1', clock.now());
    calls.length = 0;
    await clock.advanceAsync(11_000);
    expect(calls.length).toBeLessThanOrEqual(11);
    locks.release(last);
    await clock.advanceAsync(200);
    expect(clock.pendingTimers).toBe(0);
  });

  it('gives up the first lock of a job that comes a second time', () => {
    const { locks } = rig();
    const first = locks.hold('a', '1', 0);
    const second = locks.hold('a', '2', 5_000);
    expect(first.abort.signal.reason).toBeInstanceOf(JobLockLostError);
    expect(second.abort.signal.aborted).toBe(false);
    locks.release(first);
    expect(locks.isStale(second)).toBe(false);
    locks.release(second);
  });

  it('renews the second lock of a job after the first one has ended', async () => {
    const { clock, calls, locks } = rig();
    const first = locks.hold('a', '1', 0);
    const second = locks.hold('a', '2', 0);
    locks.release(first);
    await clock.advanceAsync(1_500);
    expect(calls).toEqual([['a']]);
    locks.release(second);
  });
});

import { describe, expect, it } from 'vitest';
import { JobLockLostError, JobLocks } from '../../src/bullmq/job-locks.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';

const DURATION_MS = 3_000;

function rig({ answersAfterMs = 0 } = {}) {
  const clock = new ManualClock();
  const calls: (readonly string[])[] = [];
  const errors: unknown[] = [];
  const locks = new JobLocks({
    extend: async (ids) => {
      calls.push(ids);
      if (answersAfterMs > 0) {
        await new Promise<void>((resolve) => clock.setTimer(resolve, answersAfterMs));
      }
      return [];
    },
    durationMs: DURATION_MS,
    clock,
    onError: (error) => errors.push(error),
  });
  return { clock, calls, locks };
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
});

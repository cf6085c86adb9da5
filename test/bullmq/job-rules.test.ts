import { describe, expect, it } from 'vitest';
import { processQueue } from '../../src/bullmq/index.ts';
import { createLimiter, type LimiterOptions } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { type FakeJob, FakeQueue } from './fake-queue.ts';

function rig(options: LimiterOptions = {}) {
  const clock = new ManualClock();
  const queue = new FakeQueue(clock);
  const limiter = createLimiter({ clock, ...options });
  const errors: unknown[] = [];
  const sent: number[] = [];
  const process = (send: (job: FakeJob) => unknown) => {
    const settings = { limiter, clock, onError: (error: unknown) => errors.push(error) };
    return processQueue(
      queue.worker(),
      (job) => {
        sent.push(job.data);
        return send(job);
      },
      settings,
    );
  };
  return { clock, queue, errors, sent, process };
}

const named = (name: string, message = 'mine') => Object.assign(new Error(message), { name });

describe('processQueue, with the rules of BullMQ', () => {
  it('fails a job unsent that the queue says must fail, and BullMQ does not retry it', async () => {
    const { clock, queue, errors, sent, process } = rig();
    const entry = queue.add(1);
    entry.deferredFailure = 'child 7 failed';
    process(() => 1);
    await clock.advanceAsync(1_000);
    expect(sent).toEqual([]);
    expect(entry).toMatchObject({
      state: 'failed',
      error: { name: 'UnrecoverableError', message: 'child 7 failed' },
    });
    expect(errors).toEqual([]);
  });

  it('sends a job no more that has been started more often than the worker allows', async () => {
    const { clock, queue, sent, process } = rig();
    queue.maxStartedAttempts = 2;
    const [old, young] = [queue.add(1), queue.add(2)];
    old.attemptsStarted = 2;
    young.attemptsStarted = 1;
    process(() => 1);
    await clock.advanceAsync(1_000);
    expect(sent).toEqual([2]);
    expect([old.state, young.state]).toEqual(['failed', 'completed']);
    expect(old.error?.name).toBe('UnrecoverableError');
  });

  it.each(['DelayedError', 'WaitingError', 'WaitingChildrenError'])(
    'reports nothing of a job that has moved itself and throws a %s',
    async (name) => {
      const { clock, queue, errors, process } = rig();
      const entry = queue.add(1);
      const processing = process(() => {
        // As `moveToDelayed` does, which takes the lock away.
        if (entry.attemptsStarted === 2) return 'done';
        entry.token = undefined;
        entry.lockedUntil = 0;
        throw named(name);
      });
      await clock.advanceAsync(1_000);
      expect(entry).toMatchObject({ state: 'completed', value: 'done', attemptsStarted: 2 });
      expect(errors).toEqual([]);
      expect(processing.counts).toMatchObject({ taken: 2, returned: 1, completed: 1, lost: 0 });
    },
  );

  it('gives a job back that throws a RateLimitError of BullMQ', async () => {
    const { clock, queue, errors, process } = rig();
    const entry = queue.add(1);
    const processing = process(() => {
      if (entry.attemptsStarted === 1) throw named('Error', 'bullmq:rateLimitExceeded');
      return 'done';
    });
    await clock.advanceAsync(1_000);
    expect(entry).toMatchObject({ state: 'completed', value: 'done' });
    expect(errors).toEqual([]);
    expect(processing.counts).toMatchObject({ taken: 2, returned: 1, completed: 1 });
  });

  it.each([1, 3])(
    'takes the next job when one ends, of a queue that lets %i be active',
    async (mostActive) => {
      const { clock, queue, process } = rig();
      queue.mostActive = mostActive;
      queue.latencyMs = 1;
      for (let n = 0; n < 60; n += 1) queue.add(n);
      process(() => new Promise<void>((resolve) => clock.setTimer(resolve, 100)));
      // 60 jobs of 0.1 s, and the replies of the queue.
      await clock.advanceAsync(((60 / mostActive) * 100 * 11) / 10);
      expect(queue.count('completed')).toBe(60);
    },
  );
});

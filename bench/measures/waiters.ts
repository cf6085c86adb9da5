import { setImmediate } from 'node:timers/promises';
import { expectEqual } from '../expect.ts';
import { CONCURRENCY, type WaitersJob } from '../job.ts';
import { type Crowd, rateCrowd, slotsCrowd } from './crowd.ts';
import { BATCH, type Trial, trials } from './trials.ts';

/** @returns nanoseconds for an operation */
export async function waiters(job: WaitersJob): Promise<number> {
  const crowd = job.crowd === 'slots' ? slotsCrowd() : rateCrowd();
  const trial = trials[job.operation](crowd);
  for (let index = 0; index < job.waiters; index++) {
    if (trial.join === undefined) void crowd.join();
    else trial.join();
  }
  expectCrowd(crowd, job);
  await repeat(trial, job.warmUp, crowd, job);
  const elapsedMs = await repeat(trial, job.tasks, crowd, job);
  // Let the promises of the last operation settle.
  await setImmediate();
  trial.verify(job.warmUp + job.tasks, job.waiters);
  return (elapsedMs * 1e6) / job.tasks;
}

/** Throws unless all requests wait for the intended limit. */
function expectCrowd({ limiter, started }: Crowd, { crowd, waiters }: WaitersJob): void {
  const { waiting, binding } = limiter.snapshot();
  expectEqual('requests that wait', waiting, waiters);
  expectEqual('what they wait for', binding, crowd === 'slots' ? 'concurrency' : 'rateLimit');
  expectEqual('requests that need not wait', started, CONCURRENCY);
}

/** @returns how long the operations took, in ms */
async function repeat(
  { act, grows = 0, restore }: Trial,
  total: number,
  { limiter }: Crowd,
  { waiters }: WaitersJob,
): Promise<number> {
  let elapsedMs = 0;
  for (let done = 0; done < total; done += BATCH) {
    const start = performance.now();
    const pending = act(BATCH);
    if (pending !== undefined) await pending;
    elapsedMs += performance.now() - start;
    const { waiting } = limiter.snapshot();
    expectEqual('requests that wait then', waiting, waiters + grows * BATCH);
    await restore?.(BATCH);
  }
  expectEqual('requests that wait again', limiter.snapshot().waiting, waiters);
  return elapsedMs;
}

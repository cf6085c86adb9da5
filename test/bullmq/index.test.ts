import { describe, expect, it } from 'vitest';
import { JobLockLostError, processQueue } from '../../src/bullmq/index.ts';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import { createLimiter, createLimiterGroup, type LimiterOptions } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { keepWarnings } from '../support/warnings.ts';
import { type FakeJob, FakeQueue } from './fake-queue.ts';

type Send = (job: FakeJob) => unknown;

function rig(options: LimiterOptions = {}, { lockDuration = 30_000 } = {}) {
  const clock = new ManualClock();
  const queue = new FakeQueue(clock, lockDuration);
  const limiter = createLimiter({ clock, ...options });
  const errors: unknown[] = [];
  const started: number[] = [];
  const sleep = (ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms));
  const process = (send: Send, more = {}) => {
    const worker = queue.worker();
    const processing = processQueue(
      worker,
      (job) => {
        started.push(job.data);
        return send(job);
      },
      { limiter, clock, onError: (error) => errors.push(error), ...more },
    );
    return { worker, processing };
  };
  return { clock, queue, limiter, errors, started, sleep, process };
}

describe('processQueue', () => {
  const warnings = keepWarnings();

  it('completes each job with what was sent for it', async () => {
    const { clock, queue, errors, process } = rig({ concurrency: 3 });
    for (let n = 0; n < 20; n += 1) queue.add(n);
    const { processing } = process((job) => job.data * 2);
    await clock.advanceAsync(10_000);
    expect(queue.entries.map(({ value }) => value)).toEqual(queue.entries.map((_, n) => n * 2));
    expect(processing.counts).toMatchObject({ taken: 20, completed: 20, waiting: 0, inFlight: 0 });
    expect(errors).toEqual([]);
  });

  it('leaves jobs in the queue that cannot be sent soon', async () => {
    const { clock, queue, sleep, process } = rig({ requestsPerMinute: 120, adaptive: false });
    for (let n = 0; n < 500; n += 1) queue.add(n);
    const { processing } = process(() => sleep(10));
    let most = 0;
    while (queue.count('completed') < 500) {
      await clock.advanceAsync(500);
      most = Math.max(most, processing.counts.waiting);
    }
    // 120 go at once, and then none for a minute.
    expect(most).toBeLessThanOrEqual(32);
    expect(clock.now()).toBeLessThan(241_000);
  });

  it('takes one job ahead if jobs begin slowly', async () => {
    const { clock, queue, sleep, process } = rig({ concurrency: 1 });
    for (let n = 0; n < 50; n += 1) queue.add(n);
    const { processing } = process(() => sleep(100));
    let most = 0;
    while (queue.count('completed') < 50) {
      await clock.advanceAsync(10);
      most = Math.max(most, processing.counts.waiting);
    }
    expect(most).toBe(1);
  });

  it('takes many at once if jobs begin faster than the queue answers, at most 16', async () => {
    const { clock, queue, sleep, process } = rig({ concurrency: 100 });
    queue.latencyMs = 8;
    for (let n = 0; n < 1_000; n += 1) queue.add(n);
    process(() => sleep(1));
    await clock.advanceAsync(900);
    // One after the other they would take eight seconds.
    expect(queue.count('completed')).toBe(1_000);
    expect(queue.asking.most).toBe(16);
  });

  it('asks for at most 16 at a time, however many it may take', async () => {
    const { clock, queue, process } = rig({ concurrency: 1 });
    queue.latencyMs = 8;
    for (let n = 0; n < 100; n += 1) queue.add(n);
    const { processing } = process(() => new Promise(() => {}), { readAhead: 50 });
    await clock.advanceAsync(1_000);
    expect(processing.counts.waiting).toBe(50);
    expect(queue.asking.most).toBe(16);
  });

  it('takes one job ahead again when jobs begin slowly after many began at once', async () => {
    const { clock, queue, sleep, process } = rig({ concurrency: 20 });
    for (let n = 0; n < 100; n += 1) queue.add(n);
    const { processing } = process((job) => sleep(100 * (job.data + 1)));
    await clock.advanceAsync(50);
    expect(processing.counts.waiting).toBe(16);
    await clock.advanceAsync(2_000);
    expect(processing.counts.waiting).toBe(1);
  });

  it('takes no job back from the queue that it has just given back', async () => {
    const { clock, queue, sleep, process } = rig({ concurrency: 100 });
    queue.latencyMs = 8;
    for (let n = 0; n < 1_000; n += 1) queue.add(n);
    const { processing } = process(() => sleep(1));
    await clock.advanceAsync(100);
    void processing.close();
    const { taken } = processing.counts;
    await clock.advanceAsync(2_000);
    expect(processing.counts.taken - taken).toBeLessThanOrEqual(16);
    expect(queue.asked - taken).toBeLessThanOrEqual(32);
  });

  it('takes as many as readAhead says', async () => {
    const { clock, queue, sleep, process } = rig({ concurrency: 1 });
    for (let n = 0; n < 50; n += 1) queue.add(n);
    const { processing } = process(() => sleep(100_000), { readAhead: 7 });
    await clock.advanceAsync(1_000);
    expect(processing.counts).toMatchObject({ taken: 8, waiting: 7, inFlight: 1 });
  });

  it('sends an urgent job of the queue before all that wait in it', async () => {
    const { clock, queue, started, sleep, process } = rig({ concurrency: 1 });
    for (let n = 0; n < 10; n += 1) queue.add(n, 5);
    process(() => sleep(1_000));
    await clock.advanceAsync(100);
    queue.add(99, 1);
    await clock.advanceAsync(20_000);
    // One was in flight, and one waited for its slot.
    expect(started.indexOf(99)).toBeLessThanOrEqual(2);
  });

  it('uses the cost of each job, and each job’s limiter', async () => {
    const { clock, queue, process } = rig();
    const group = createLimiterGroup((key: string) => key, {
      clock,
      each: { tokensPerMinute: 100, adaptive: false },
    });
    for (let n = 0; n < 8; n += 1) queue.add(n);
    process((job) => job.data, {
      limiter: (job: FakeJob) => group.get(job.data % 2 === 0 ? 'even' : 'odd'),
      request: () => ({ tokens: 50 }),
      readAhead: 20,
    });
    await clock.advanceAsync(1_000);
    expect(queue.count('completed')).toBe(4);
    await clock.advanceAsync(120_000);
    expect(queue.count('completed')).toBe(8);
  });

  it('fails a job with the error of its request, and says after how many attempts', async () => {
    const { clock, queue, process } = rig({ maxAttempts: 3, backoff: { backoffMs: 10 } });
    const entry = queue.add(1);
    const busy = Object.assign(new Error('too many'), { status: 429 });
    const { processing } = process(() => Promise.reject(busy));
    await clock.advanceAsync(60_000);
    expect(entry.state).toBe('failed');
    expect(entry.error).toBe(busy);
    expect(entry.logs).toEqual(['headgate: failed after 3 attempts: Error: too many']);
    expect(processing.counts).toMatchObject({ failed: 1, waiting: 0, inFlight: 0 });
  });

  it.each([
    ['a value that has no JSON', () => 1n],
    ['a thrown value that is no error', () => Promise.reject('no')],
    [
      'an error thrown at once',
      () => {
        throw new TypeError('mine');
      },
    ],
  ])('fails a job for %s', async (_what, send) => {
    const { clock, queue, process } = rig();
    const entry = queue.add(1);
    process(send);
    await clock.advanceAsync(1_000);
    expect(entry.state).toBe('failed');
    expect(entry.error).toBeInstanceOf(Error);
  });

  it('completes a job whose request has failed with the result of `failed`', async () => {
    const { clock, queue, process } = rig({ maxAttempts: 1 });
    const [kept, thrown] = [queue.add(1), queue.add(2)];
    const failed = (error: Error, job: FakeJob, attempts: number) => {
      if (job.data === 2) throw new Error('worse');
      return [error.message, attempts];
    };
    process(() => Promise.reject(new Error('mine')), { failed });
    await clock.advanceAsync(1_000);
    expect([kept.state, kept.value]).toEqual(['completed', ['mine', 1]]);
    expect([thrown.state, thrown.error?.message]).toEqual(['failed', 'worse']);
  });

  it('renews locks while a job waits and while it runs', async () => {
    const { clock, queue, started, sleep, process } = rig(
      { concurrency: 1 },
      { lockDuration: 300 },
    );
    for (let n = 0; n < 4; n += 1) queue.add(n);
    process(() => sleep(5_000), { readAhead: 10 });
    process(() => sleep(5_000), { readAhead: 10 });
    await clock.advanceAsync(60_000);
    expect(started.sort()).toEqual([0, 1, 2, 3]);
    expect(queue.count('completed')).toBe(4);
  });

  it('asks for no lock before it sends a job, and looks for jobs of workers that are gone', async () => {
    const { clock, queue, sleep, process } = rig({ concurrency: 1 }, { lockDuration: 900 });
    for (let n = 0; n < 4; n += 1) queue.add(n);
    const { worker } = process(() => sleep(400));
    await clock.advanceAsync(2_000);
    expect(queue.count('completed')).toBe(4);
    // Every 300 ms, and not at the start of each job too.
    expect(worker.renewals).toBeLessThanOrEqual(6);
    expect(worker.checksStalled).toBe(true);
  });

  it('gives up a job that was removed from the queue', async () => {
    const { clock, queue, errors, sleep, process } = rig();
    queue.add(1);
    const { processing } = process(() => sleep(1_000));
    await clock.advanceAsync(500);
    queue.entries.length = 0;
    await clock.advanceAsync(5_000);
    expect(processing.counts).toMatchObject({ taken: 1, lost: 1, inFlight: 0 });
    expect(errors).toMatchObject([{ message: 'Missing key for job job 0' }]);
  });

  it.each(['door-closed-7', 'websocket', 'MISCONF'])(
    'gives up a job whose id reads like an error of the store: %s',
    async (id) => {
      const { clock, queue, errors, sleep, process } = rig();
      queue.add(1, 0, id);
      const { processing } = process(() => sleep(1_000));
      await clock.advanceAsync(500);
      queue.entries.length = 0;
      await clock.advanceAsync(5_000);
      expect(processing.counts).toMatchObject({ taken: 1, lost: 1, inFlight: 0 });
      expect(errors).toMatchObject([{ message: `Missing key for job ${id}` }]);
    },
  );

  it('does not send a job that another worker has taken meanwhile', async () => {
    const { clock, queue, errors, started, sleep, process } = rig(
      { concurrency: 1 },
      { lockDuration: 300 },
    );
    queue.add(0);
    queue.add(1);
    const first = process(() => sleep(2_000), { readAhead: 2 });
    await clock.advanceAsync(100);
    // Cut off for longer than its locks last: the job that waits here is taken by the other worker.
    first.worker.isCut = true;
    const other: number[] = [];
    const limiter = createLimiter({ clock });
    process((job) => other.push(job.data), { limiter });
    await clock.advanceAsync(1_000);
    first.worker.isCut = false;
    await clock.advanceAsync(10_000);
    expect(other.sort()).toEqual([0, 1]);
    expect(started.filter((n) => n === 1)).toHaveLength(1);
    expect(first.processing.counts).toMatchObject({ lost: 2, completed: 0, inFlight: 0 });
    expect(errors.some((error) => error instanceof JobLockLostError)).toBe(true);
    expect(queue.count('completed')).toBe(2);
  });

  it('asks an empty queue no more often than once a second, and one that blocks not at all', async () => {
    const { clock, queue, errors, process } = rig();
    process(() => 1);
    await clock.advanceAsync(20_000);
    expect(queue.asked).toBeLessThan(8);
    queue.isAway = true;
    await clock.advanceAsync(20_000);
    expect(queue.asked).toBeLessThan(40);
    expect(errors).toContainEqual(new Error(queue.awayError));
  });

  it('takes a job at once from a queue that was empty for long', async () => {
    const { clock, queue, process } = rig();
    process(() => 1);
    // Calls wait for a job for 5 s, so two have ended without one.
    await clock.advanceAsync(10_200);
    queue.add(1);
    await clock.advanceAsync(20);
    expect(queue.count('completed')).toBe(1);
  });

  it('asks again at once if the first call after a job does not wait', async () => {
    const { clock, queue, process } = rig();
    process(() => 1);
    for (let n = 0; n < 2; n += 1) {
      await clock.advanceAsync(8_000);
      queue.early = 1;
      queue.add(n);
      await clock.advanceAsync(20);
      queue.add(n);
      await clock.advanceAsync(20);
      expect(queue.count('completed')).toBe(2 * n + 2);
    }
  });

  it('takes jobs soon after the queue has limited its rate for a short time', async () => {
    const { clock, queue, process } = rig();
    process(() => 1);
    await clock.advanceAsync(8_000);
    for (let n = 0; n < 20; n += 1) {
      queue.add(n);
      await clock.advanceAsync(20);
      queue.limitedUntil = clock.now() + 100;
      queue.add(n);
      await clock.advanceAsync(200);
      expect(queue.count('completed')).toBe(2 * n + 2);
    }
    queue.limitedUntil = clock.now() + 60_000;
    queue.asked = 0;
    await clock.advanceAsync(60_000);
    expect(queue.asked).toBeLessThan(80);
  });

  it('gives waiting jobs back to the queue at close, and waits for jobs in flight', async () => {
    const { clock, queue, sleep, process } = rig({ concurrency: 2 });
    for (let n = 0; n < 10; n += 1) queue.add(n);
    const { processing, worker } = process(() => sleep(3_000), { readAhead: 4 });
    await clock.advanceAsync(100);
    let isClosed = false;
    void processing.close().then(() => (isClosed = true));
    await clock.advanceAsync(100);
    expect(queue.count('active')).toBe(2);
    expect(isClosed || worker.isClosed).toBe(false);
    await clock.advanceAsync(3_000);
    expect(isClosed && worker.isClosed).toBe(true);
    expect(processing.counts).toMatchObject({ taken: 6, completed: 2, returned: 4 });
    expect(queue.count('waiting')).toBe(8);
  });

  it('reports the result of a job whose start closes everything, before the worker closes', async () => {
    const { clock, queue, sleep, process } = rig();
    const entry = queue.add(1);
    const wasClosed: boolean[] = [];
    const { processing, worker } = process(async () => {
      void processing.close();
      await sleep(1_000);
      wasClosed.push(worker.isClosed);
      return 'sent';
    });
    await clock.advanceAsync(2_000);
    expect(wasClosed).toEqual([false]);
    expect([entry.state, worker.isClosed]).toEqual(['completed', true]);
  });

  it('is closed only when a job that came while the worker closed was given back', async () => {
    const { clock, queue, sleep, process } = rig();
    const { processing, worker } = process(() => 1);
    const { getNextJob } = worker;
    worker.getNextJob = async (...args) => {
      const job = await getNextJob(...args);
      worker.isCut = job !== undefined;
      return job;
    };
    worker.close = () => sleep(100);
    // The next call that waits for a job.
    await clock.advanceAsync(5_100);
    let isClosed = false;
    void processing.close().then(() => (isClosed = true));
    queue.add(1);
    await clock.advanceAsync(500);
    expect([processing.counts.taken, isClosed]).toEqual([1, false]);
    worker.isCut = false;
    await clock.advanceAsync(2_000);
    expect([queue.count('waiting'), isClosed]).toEqual([1, true]);
  });

  it('is closed only when a job that it had asked for before was given back', async () => {
    const { clock, queue, sleep, process } = rig();
    const { processing, worker } = process(() => 1);
    const { getNextJob } = worker;
    worker.getNextJob = async (...args) => {
      const job = await getNextJob(...args);
      await sleep(300);
      return job;
    };
    await clock.advanceAsync(5_100);
    let isClosed = false;
    void processing.close().then(() => (isClosed = true));
    queue.add(1);
    await clock.advanceAsync(200);
    expect([queue.count('active'), isClosed]).toEqual([1, false]);
    await clock.advanceAsync(300);
    expect([queue.count('waiting'), isClosed]).toEqual([1, true]);
  });

  it('waits at close for no pause of an empty queue', async () => {
    const { clock, queue, process } = rig();
    queue.limitedUntil = 60_000;
    const { processing } = process(() => 1);
    await clock.advanceAsync(10_000);
    let isClosed = false;
    void processing.close().then(() => (isClosed = true));
    await clock.advanceAsync(10);
    expect(isClosed).toBe(true);
  });

  it('fails no job because its limiter is closed, and takes no more', async () => {
    const { clock, queue, limiter, errors, sleep, process } = rig({ concurrency: 2 });
    for (let n = 0; n < 50; n += 1) queue.add(n);
    const { processing } = process(() => sleep(1_000), { readAhead: 4 });
    await clock.advanceAsync(100);
    limiter.close({ waiting: 'reject' });
    await clock.advanceAsync(10_000);
    expect(processing.counts).toMatchObject({ completed: 2, failed: 0, returned: 4, inFlight: 0 });
    expect(queue.count('waiting')).toBe(48);
    expect(errors).toEqual([expect.objectContaining({ code: 'LIMITER_CLOSED' })]);
    await processing.close();
  });

  it('fails no job because other workers of its limits are newer, and takes no more', async () => {
    const { clock, queue, errors, process } = rig();
    for (let n = 0; n < 50; n += 1) queue.add(n);
    const shared = {
      ...memoryStore({ clock }),
      exchange: () => ({ status: 'protocol' as const, protocol: 99 }),
    };
    const limiter = createLimiter({ clock, shared });
    const { processing } = process(() => 'sent', { limiter: () => limiter });
    await clock.advanceAsync(10_000);
    expect(processing.counts).toMatchObject({ completed: 0, failed: 0, inFlight: 0 });
    expect(queue.count('waiting')).toBe(50);
    expect(errors).toEqual([expect.objectContaining({ code: 'STORE_PROTOCOL' })]);
    await processing.close();
  });

  it('fails the jobs of a tenant whose limiter is closed, and takes those of others', async () => {
    const { clock, queue, errors, process } = rig();
    for (let n = 0; n < 10; n += 1) queue.add(n);
    const limiters = [createLimiter({ clock }), createLimiter({ clock })];
    limiters[1]?.close();
    process(() => 'sent', { limiter: ({ data }: FakeJob) => limiters[data % 2] });
    await clock.advanceAsync(10_000);
    expect(queue.count('completed')).toBe(5);
    expect(queue.count('failed')).toBe(5);
    expect(errors).toEqual([]);
  });

  it('gives back jobs that take longer than drainMs', async () => {
    const { clock, queue, sleep, process } = rig();
    queue.add(1);
    const { processing } = process(() => sleep(60_000));
    await clock.advanceAsync(100);
    const closed = processing.close({ drainMs: 500 });
    await clock.advanceAsync(600);
    await closed;
    expect(queue.count('waiting')).toBe(1);
    // The call that waited for a job at `close` may be answered with the one that came back.
    expect(processing.counts.returned).toBe(processing.counts.taken);
  });

  it('shortens the wait for jobs in flight by a later close', async () => {
    const { clock, queue, sleep, process } = rig();
    queue.add(1);
    const { processing } = process(() => sleep(60_000));
    await clock.advanceAsync(100);
    let isClosed = false;
    void processing.close().then(() => (isClosed = true));
    await clock.advanceAsync(5_000);
    expect(isClosed).toBe(false);
    void processing.close({ drainMs: 0 });
    await clock.advanceAsync(100);
    expect(isClosed).toBe(true);
    expect(queue.count('waiting')).toBe(1);
    expect(clock.pendingTimers).toBeLessThanOrEqual(1);
  });

  it('closes if the queue is unreachable, and leaves the job to its lock', async () => {
    const { clock, queue, sleep, process } = rig({}, { lockDuration: 8_000 });
    queue.add(1);
    const { processing } = process(() => sleep(1_000));
    await clock.advanceAsync(500);
    queue.isAway = true;
    let isClosed = false;
    void processing.close({ drainMs: 3_000 }).then(() => (isClosed = true));
    await clock.advanceAsync(5_000);
    expect(isClosed).toBe(true);
    expect(processing.counts).toMatchObject({ taken: 1, lost: 1, inFlight: 0 });
    await clock.advanceAsync(8_000);
    expect(queue.count('waiting')).toBe(1);
  });

  it('closes if the queue is unreachable and its client keeps the calls until it is back', async () => {
    const { clock, queue, sleep, errors, process } = rig({}, { lockDuration: 8_000 });
    queue.keepsCalls = true;
    for (let n = 0; n < 3; n += 1) queue.add(n);
    const { processing } = process((job) => sleep(job.data === 0 ? 1_000 : 60_000));
    await clock.advanceAsync(500);
    queue.isAway = true;
    let isClosed = false;
    void processing.close({ drainMs: 3_000 }).then(() => (isClosed = true));
    await clock.advanceAsync(4_900);
    expect(isClosed).toBe(false);
    await clock.advanceAsync(200);
    expect(isClosed).toBe(true);
    expect(processing.counts).toMatchObject({ taken: 3, lost: 3, inFlight: 0 });
    expect(errors.map(String)).toEqual(
      Array.from({ length: 3 }, () => 'Error: the queue did not answer within 2000 ms'),
    );
  });

  it('gives jobs back to a queue that comes back soon after the time for jobs in flight', async () => {
    const { clock, queue, sleep, errors, process } = rig({}, { lockDuration: 8_000 });
    queue.keepsCalls = true;
    queue.add(1);
    const { processing } = process(() => sleep(60_000));
    await clock.advanceAsync(500);
    queue.isAway = true;
    const closed = processing.close({ drainMs: 1_000 });
    await clock.advanceAsync(2_500);
    queue.isAway = false;
    await clock.advanceAsync(500);
    await closed;
    expect(errors).toEqual([]);
    expect(processing.counts).toMatchObject({ lost: 0, inFlight: 0 });
    expect(queue.count('waiting')).toBe(1);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('mine');
      },
    ],
    ['rejects', () => Promise.reject(new Error('mine'))],
  ])('goes on where onError %s', async (_, onError) => {
    const { clock, queue, process } = rig();
    queue.isAway = true;
    process((job) => job.data, { onError });
    await clock.advanceAsync(5_000);
    queue.isAway = false;
    queue.add(1);
    await clock.advanceAsync(5_000);
    expect(queue.count('completed')).toBe(1);
    expect(warnings).toContain('headgate: `onError` threw: Error: mine');
  });

  it.each([
    'connect ECONNREFUSED 127.0.0.1:6379',
    'NOAUTH Authentication required.',
    'NOPERM this user has no permissions to run the evalsha command',
    "OOM command not allowed when used memory > 'maxmemory'.",
    'MISCONF Redis is configured to save RDB snapshots, but it cannot',
    "READONLY You can't write against a read only replica.",
    'CLUSTERDOWN Hash slot not served',
    'BUSY Redis is busy running a script.',
  ])('keeps an answer until it can be reported to the queue: %s', async (awayError) => {
    const { clock, queue, started, sleep, process } = rig();
    queue.awayError = awayError;
    const entry = queue.add(7);
    process(() => sleep(1_000).then(() => 'paid'));
    await clock.advanceAsync(500);
    queue.isAway = true;
    await clock.advanceAsync(10_000);
    queue.isAway = false;
    await clock.advanceAsync(3_000);
    expect(entry.value).toBe('paid');
    expect(started).toEqual([7]);
  });
});

describe('wrong arguments of processQueue', () => {
  const clock = new ManualClock();
  const limiter = createLimiter({ clock });
  const worker = new FakeQueue(clock).worker();
  const send = () => 1;

  it.each([
    ['worker', () => processQueue({} as never, send, { limiter }), /`worker\.getNextJob`/],
    [
      'a worker that runs',
      () => processQueue({ ...worker, isRunning: () => true }, send, { limiter }),
      /without a processor/,
    ],
    ['send', () => processQueue(worker, 1 as never, { limiter }), /`send`/],
    ['limiter', () => processQueue(worker, send, { limiter: {} as never }), /`limiter\.run`/],
    ['request', () => processQueue(worker, send, { limiter, request: 1 as never }), /`request`/],
    ['failed', () => processQueue(worker, send, { limiter, failed: 1 as never }), /`failed`/],
    ['onError', () => processQueue(worker, send, { limiter, onError: 1 as never }), /`onError`/],
    ['clock', () => processQueue(worker, send, { limiter, clock: 1 as never }), /`clock/],
    ['readAhead', () => processQueue(worker, send, { limiter, readAhead: 0 }), /`readAhead`.*0/],
    ['an unknown one', () => processQueue(worker, send, { limiter, rpm: 1 } as never), /rpm/],
  ])('name %s', (_what, call, message) => {
    expect(call).toThrow(message);
  });

  it('name drainMs', () => {
    const processing = processQueue(worker, send, { limiter, clock });
    expect(() => processing.close({ drainMs: -1 })).toThrow(/`drainMs`.*-1/);
    expect(() => processing.close({ drainMs: Number.NaN })).toThrow(/`drainMs`.*NaN/);
    void processing.close();
  });

  it('refuse a worker that another call has', () => {
    const queue = new FakeQueue(clock);
    const [first, second] = [queue.worker(), queue.worker()];
    // A call that throws leaves the worker as it was.
    expect(() => processQueue(first, send, { limiter, readAhead: 0 })).toThrow();
    const one = processQueue(first, send, { limiter, clock });
    const message = '`worker` was given to `processQueue` before: make another one';
    expect(() => processQueue(first, send, { limiter, clock })).toThrow(message);
    const two = processQueue(second, send, { limiter, clock });
    void one.close();
    void two.close();
  });
});

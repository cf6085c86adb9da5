import fc from 'fast-check';
import { expect, it } from 'vitest';
import { processQueue, type QueueProcessing } from '../../src/bullmq/index.ts';
import { createLimiter, type Limiter } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { runs } from '../support/runs.ts';
import { type FakeJob, FakeQueue } from './fake-queue.ts';

const LOCK_MS = 1_000;

interface Start {
  readonly concurrency: number;
  readonly readAhead: number | undefined;
}

type Step =
  | { readonly what: 'add'; readonly count: number; readonly priority: number }
  | { readonly what: 'cut' | 'away'; readonly worker: number; readonly ms: number }
  | { readonly what: 'close'; readonly worker: number }
  | { readonly what: 'pass'; readonly ms: number };

const worker = fc.nat(2);
const ms = fc.nat(4_000);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ what: fc.constant('add' as const), count: fc.nat(12), priority: fc.nat(3) }),
  fc.record({ what: fc.constantFrom('cut' as const, 'away' as const), worker, ms }),
  fc.record({ what: fc.constant('close' as const), worker }),
  fc.record({ what: fc.constant('pass' as const), ms }),
);
/** The limit of the queue on active jobs. */
const mostActive = fc.constantFrom(2, 5, Number.POSITIVE_INFINITY);
const start: fc.Arbitrary<Start> = fc.record({
  concurrency: fc.integer({ min: 1, max: 4 }),
  readAhead: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
});

class World {
  readonly clock = new ManualClock();
  readonly queue = new FakeQueue(this.clock, LOCK_MS);
  readonly all: QueueProcessing[] = [];
  readonly workers: ReturnType<FakeQueue['worker']>[] = [];
  readonly limiters: Limiter[] = [];
  /** Of each job: how often it was sent. */
  readonly sent = new Map<string, number>();
  faults = 0;

  work({ concurrency, readAhead }: Start): void {
    const limiter = createLimiter({ clock: this.clock, concurrency, maxAttempts: 1 });
    const processWorker = this.queue.worker();
    const send = async ({ id, data }: FakeJob) => {
      this.sent.set(id, (this.sent.get(id) ?? 0) + 1);
      await new Promise<void>((resolve) => this.clock.setTimer(resolve, 50 + (data % 7) * 300));
      if (data % 5 === 0) throw new Error('mine');
      return data;
    };
    const options = { limiter, clock: this.clock, ...(readAhead !== undefined && { readAhead }) };
    this.all.push(processQueue(processWorker, send, options));
    this.workers.push(processWorker);
    this.limiters.push(limiter);
  }

  async take(step: Step): Promise<void> {
    if (step.what === 'add') {
      for (let n = 0; n < step.count; n += 1) {
        this.queue.add(this.queue.entries.length, step.priority);
      }
    } else if (step.what === 'pass') {
      await this.clock.advanceAsync(step.ms);
    } else if (step.what === 'close') {
      void this.all[step.worker]?.close();
    } else {
      this.faults += 1;
      const cut = step.what === 'cut' ? this.workers[step.worker] : undefined;
      if (cut === undefined) this.queue.isAway = true;
      else cut.isCut = true;
      await this.clock.advanceAsync(step.ms);
      if (cut === undefined) this.queue.isAway = false;
      else cut.isCut = false;
    }
  }

  /** Everything is well again, and one more worker comes. */
  async end(): Promise<void> {
    this.work({ concurrency: 4, readAhead: undefined });
    for (let n = 0; n < 100 && this.isBusy; n += 1) await this.clock.advanceAsync(2_000);
    for (const processing of this.all) void processing.close();
    await this.clock.advanceAsync(20_000);
  }

  private get isBusy(): boolean {
    return this.queue.count('waiting') + this.queue.count('active') > 0;
  }
}

it('ends each job once, for generated events of workers and queue', async () => {
  const script = fc.array(step, { maxLength: 15 });
  const starts = fc.tuple(start, start, start);
  await fc.assert(
    fc.asyncProperty(starts, script, mostActive, async (workers, steps, most) => {
      const world = new World();
      world.queue.mostActive = most;
      for (const each of workers) world.work(each);
      for (const each of steps) await world.take(each);
      await world.end();
      for (const { data, state, value, id, error } of world.queue.entries) {
        expect(state, `${id} ${error}`).toBe(data % 5 === 0 ? 'failed' : 'completed');
        if (state === 'completed') expect(value).toBe(data);
        // Only a worker that lost its lock is followed by another.
        expect(world.sent.get(id) ?? 0, id).toBeGreaterThanOrEqual(1);
        expect(world.sent.get(id) ?? 0, id).toBeLessThanOrEqual(1 + world.faults);
      }
      for (const { counts } of world.all) {
        const { taken, completed, failed, returned, lost, waiting, inFlight } = counts;
        expect(taken).toBe(completed + failed + returned + lost);
        expect(waiting + inFlight).toBe(0);
      }
      for (const limiter of world.limiters) expect(limiter.snapshot().concurrency.inFlight).toBe(0);
    }),
    { numRuns: runs(60) },
  );
});

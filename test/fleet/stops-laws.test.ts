import fc from 'fast-check';
import { expect, it } from 'vitest';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { ExchangeReply, ExchangeRequest } from '../../src/fleet/protocol.ts';
import { createLimiter, type Limiter, type LimiterOptions } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import type { Clock } from '../../src/util/clock.ts';
import { runs } from '../support/runs.ts';
import { keepWarnings } from '../support/warnings.ts';
import { mostIn } from './rig.ts';

const TTL_MS = 1_000;
const WINDOW_MS = 1_000;
/** A worker uses a grant up to this much later than it is due. */
const LATEST_MS = 50;

keepWarnings();

/** A process of a fleet that can stand still: meanwhile none of its callbacks runs. */
class StoppableWorker {
  readonly limiter: Limiter;
  readonly sends: { readonly at: number; readonly cost: number }[] = [];
  /** The number of its requests that the provider works on. */
  inFlight = 0;
  private readonly clock: ManualClock;
  private stopped = 0;
  private due: (() => void)[] = [];
  private isOn = true;

  constructor(
    clock: ManualClock,
    exchange: (request: ExchangeRequest) => ExchangeReply | Promise<ExchangeReply>,
    latencyMs: number,
    options: LimiterOptions,
  ) {
    this.clock = clock;
    const own: Clock = {
      now: () => clock.now(),
      setTimer: (callback, delayMs) => clock.setTimer(() => this.run(callback), delayMs),
    };
    const shared = {
      ...memoryStore({ clock, ttlMs: TTL_MS }),
      exchange: (request: ExchangeRequest) =>
        this.call(exchange, structuredClone(request), latencyMs),
    };
    this.limiter = createLimiter({ adaptive: false, clock: own, ...options, shared });
  }

  /** Keeps this number of requests waiting or in flight. */
  async lane(tookMs: number): Promise<void> {
    while (this.isOn) await this.limiter.run(() => this.send(tookMs));
  }

  /** The process stands still for a time. */
  stop(ms: number): void {
    this.stopped += 1;
    this.clock.setTimer(() => {
      this.stopped -= 1;
      if (this.stopped > 0) return;
      for (const callback of this.due.splice(0)) callback();
    }, ms);
  }

  end(): void {
    this.isOn = false;
  }

  private run(callback: () => void): void {
    if (this.stopped > 0) this.due.push(callback);
    else callback();
  }

  private send(tookMs: number): Promise<void> {
    this.sends.push({ at: this.clock.now(), cost: 1 });
    this.inFlight += 1;
    return new Promise((done) => {
      this.clock.setTimer(() => {
        this.inFlight -= 1;
        this.run(done);
      }, tookMs);
    });
  }

  private call(
    exchange: (request: ExchangeRequest) => ExchangeReply | Promise<ExchangeReply>,
    request: ExchangeRequest,
    latencyMs: number,
  ): Promise<ExchangeReply> {
    return new Promise((resolve) => {
      this.clock.setTimer(async () => {
        const reply = structuredClone(await exchange(request));
        this.clock.setTimer(() => this.run(() => resolve(reply)), latencyMs);
      }, latencyMs);
    });
  }
}

it('workers that stand still for any time have no more in flight than all may, and exceed no limit', async () => {
  const stop = fc.record({
    worker: fc.nat(3),
    afterMs: fc.integer({ min: 1, max: 400 }),
    ms: fc.integer({ min: 1, max: 4 * TTL_MS }),
  });
  const scenario = fc.record({
    lanes: fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 4, maxLength: 4 }),
    concurrency: fc.integer({ min: 1, max: 16 }),
    limit: fc.integer({ min: 20, max: 400 }),
    // Requests end before the store lends the slots of their worker to others.
    tookMs: fc.integer({ min: 5, max: TTL_MS / 2 - 20 }),
    latencyMs: fc.integer({ min: 0, max: 10 }),
    stops: fc.array(stop, { minLength: 1, maxLength: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async ({ lanes, concurrency, limit, tookMs, latencyMs, stops }) => {
      const clock = new ManualClock();
      const store = memoryStore({ clock, ttlMs: TTL_MS });
      const options = {
        concurrency,
        limits: { requests: { limit, windowMs: WINDOW_MS } },
      };
      const workers = lanes.map(
        () => new StoppableWorker(clock, (request) => store.exchange(request), latencyMs, options),
      );
      for (const [index, worker] of workers.entries()) {
        for (let lane = 0; lane < (lanes[index] as number); lane += 1) void worker.lane(tookMs);
      }
      const advance = async (ms: number) => {
        for (let at = 0; at < ms; at += 5) {
          await clock.advanceAsync(Math.min(5, ms - at));
          const inFlight = workers.reduce((sum, worker) => sum + worker.inFlight, 0);
          expect(inFlight).toBeLessThanOrEqual(concurrency);
        }
      };
      await advance(500);
      for (const { worker, afterMs, ms } of stops) {
        (workers[worker] as StoppableWorker).stop(ms);
        await advance(afterMs);
      }
      await advance(6 * TTL_MS);
      const sends = workers.flatMap((worker) => worker.sends);
      const late = Math.ceil((limit * LATEST_MS) / WINDOW_MS);
      expect(mostIn(sends, WINDOW_MS)).toBeLessThanOrEqual(limit + late + 1);
      for (const worker of workers) worker.end();
      await clock.advanceAsync(60_000);
      expect(workers.map((w) => w.limiter.snapshot().waiting + w.inFlight)).toEqual([0, 0, 0, 0]);
    }),
    { numRuns: runs(20) },
  );
});

/** Checks the same laws for many workers, on a model of the store in virtual time. */
import { memoryStore } from 'headgate/advanced';
import { ManualClock } from 'headgate/simulator';
import { type Figures, TTL_MS } from '../goals.ts';
import { figuresOf } from '../measures/limits.ts';
import type { Options } from '../options.ts';
import type { Shown } from '../report.ts';
import { countBetween, fullRateAfter, inFlightOf, jain, sorted } from '../timeline.ts';
import { type CallCost, VirtualWorker } from './virtual-worker.ts';

/** A worker's share of the limit, in requests a second. */
const RATE = 10;
const WINDOW_MS = 2_000;
const BEGIN_MS = 1_000;
const BUSY_MS = 4_000;
const IDLE_MS = 1_500;
const STEP_MS = 100;
const SPAN_MS = 100;
const FULL = 0.95;
const SLOTS = 2;
const TOOK_MS = 50;
/** A smaller fleet, to compare the time of a call. */
const FEW = 10;

export async function runVirtual({ workers }: Options): Promise<Shown[]> {
  const counts = workers > FEW ? [FEW, workers] : [workers];
  const shown: Shown[] = [];
  for (const count of counts) {
    const figures = { ...(await limits(count)), ...(await kill(count)) };
    shown.push({ title: `${count} in virtual time`, figures });
  }
  return shown;
}

async function limits(count: number): Promise<Figures> {
  const clock = new ManualClock();
  const cost: CallCost = { calls: 0, ms: 0 };
  const perSecond = RATE * count;
  const limit = { requests: (perSecond * WINDOW_MS) / 1_000, windowMs: WINDOW_MS };
  const options = {
    concurrency: 10 * perSecond,
    limits: { requests: { limit: limit.requests, windowMs: WINDOW_MS } },
  };
  const workers = fleet(count, clock, options, cost);
  for (const worker of workers) worker.work(RATE, 5);
  await advance(clock, BEGIN_MS + BUSY_MS);
  const idleAt = clock.now();
  for (const worker of workers.slice(0, Math.floor(count / 2))) worker.rest();
  for (const worker of workers.slice(Math.floor(count / 2))) worker.work(2 * RATE, 5);
  await advance(clock, IDLE_MS);
  const all = sorted(workers.flatMap(({ sent }) => sent));
  const counts = workers.map(({ sent }) => countBetween(sorted(sent), BEGIN_MS, idleAt));
  close(workers);
  return {
    ...figuresOf(all, limit, 0, BEGIN_MS, idleAt),
    fairness: jain(counts),
    reuse: fullRateAfter(all, idleAt, clock.now(), SPAN_MS, (FULL * perSecond * SPAN_MS) / 1_000),
    callMicros: (1_000 * cost.ms) / cost.calls,
  };
}

async function kill(count: number): Promise<Figures> {
  const clock = new ManualClock();
  const slots = SLOTS * count;
  const workers = fleet(count, clock, { concurrency: slots }, { calls: 0, ms: 0 });
  for (const worker of workers) worker.work(2 * SLOTS, TOOK_MS);
  await advance(clock, BEGIN_MS);
  const killedAt = clock.now();
  workers[0]?.kill();
  await advance(clock, 3 * TTL_MS);
  const levels = inFlightOf(
    workers.map(({ sent, ended, killedAt: at }) => ({
      sent,
      ended,
      ...(at !== undefined && { killedAt: at }),
    })),
  );
  const most = levels.reduce((before, { requests }) => Math.max(before, requests), 0);
  const back = levels.find(({ at, requests }) => at > killedAt && requests >= slots);
  close(workers);
  return {
    killedBack: (back?.at ?? Number.POSITIVE_INFINITY) - killedAt,
    doubled: Math.max(0, most - slots),
  };
}

function fleet(
  count: number,
  clock: ManualClock,
  options: ConstructorParameters<typeof VirtualWorker>[2],
  cost: CallCost,
): VirtualWorker[] {
  const store = memoryStore({ clock, ttlMs: TTL_MS });
  return Array.from({ length: count }, () => new VirtualWorker(store, clock, options, cost));
}

/** Advances virtual time, and lets promises settle between timers. */
async function advance(clock: ManualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP_MS) await clock.advanceAsync(STEP_MS);
}

function close(workers: readonly VirtualWorker[]): void {
  for (const worker of workers) {
    worker.rest();
    worker.limiter.close();
  }
}

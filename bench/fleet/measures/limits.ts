/** Measures how exactly a short rate limit is kept, used and divided. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures } from '../goals.ts';
import { sharedNow } from '../send-log.ts';
import type { Limit } from '../setup.ts';
import { countBetween, fullRateAfter, jain, mostInWindow, sorted } from '../timeline.ts';
import { type Context, connectAll, endAll, limitOf } from './context.ts';

const PER_SECOND = 2_000;
/** A worker's backlog at any time, in seconds of its share. */
const BACKLOG_S = 0.5;
const TOOK_MS = 5;
/** The time in which all workers find their share. */
const SETTLE_MS = 1_000;
/** After this share of the time, half of the workers become idle. */
const HALF_IDLE = 0.75;
const SPAN_MS = 100;
const FULL = 0.95;

export async function measureLimits(context: Context): Promise<Figures> {
  const { workers, seconds } = context;
  const limit = limitOf(seconds, PER_SECOND);
  await connectAll(context, { limit });
  const requests = Math.ceil((PER_SECOND * BACKLOG_S) / Math.min(4, workers.length));
  const begunAt = sharedNow();
  await Promise.all(
    workers.map((worker) => worker.load({ kind: 'backlog', requests, tookMs: TOOK_MS })),
  );
  const startAt = sharedNow() + SETTLE_MS;
  await sleep(SETTLE_MS + seconds * HALF_IDLE * 1_000);
  const idle = workers.slice(0, Math.floor(workers.length / 2));
  const idleAt = sharedNow();
  await Promise.all(idle.map((worker) => worker.stop()));
  const idleBy = sharedNow();
  await sleep(seconds * (1 - HALF_IDLE) * 1_000);
  const endAt = sharedNow();
  await Promise.all(idle.map((worker) => worker.close()));
  await endAll(workers.slice(idle.length));
  const sends = workers.map((worker) => sorted(worker.takeSends().sent));
  const all = sorted(sends.flatMap((sent) => [...sent]));
  const counts = sends.map((sent) => countBetween(sent, startAt, idleAt));
  return {
    ...figuresOf(all, limit, begunAt, startAt, endAt),
    fairness: jain(counts),
    reuse: fullRateAfter(all, idleBy, endAt, SPAN_MS, (FULL * PER_SECOND * SPAN_MS) / 1_000),
  };
}

/** How well a limit was kept and used, in %. */
export function figuresOf(
  all: Float64Array,
  { requests, windowMs }: Limit,
  begunAt: number,
  startAt: number,
  endAt: number,
): { overshoot: number; goodput: number } {
  const most = mostInWindow(
    all.filter((at) => at >= begunAt),
    windowMs,
  );
  const allowed = (requests * (endAt - startAt)) / windowMs;
  return {
    overshoot: Math.max(0, 100 * (most / requests - 1)),
    goodput: (100 * countBetween(all, startAt, endAt)) / allowed,
  };
}

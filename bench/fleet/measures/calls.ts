/** Measures the load of the store with busy workers and no binding limit. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures } from '../goals.ts';
import { workBetween } from '../redis-server.ts';
import { sharedNow } from '../send-log.ts';
import { quantile, sorted } from '../timeline.ts';
import { type Context, connectAll, endAll } from './context.ts';

const PER_SECOND = 1_100;
const LOAD = { kind: 'arrivals', perSecond: PER_SECOND, tookMs: 0 } as const;
const PART = 0.4;
const SETTLE_MS = 500;

export async function measureCalls(context: Context): Promise<Figures> {
  const { workers, seconds, redis } = context;
  const limit = { requests: 10 * PER_SECOND * workers.length, windowMs: 1_000 };
  await connectAll(context, { limit });
  await Promise.all(workers.map((worker) => worker.load(LOAD)));
  await sleep(SETTLE_MS);
  const [before, startAt] = [await redis.work(), sharedNow()];
  await sleep(seconds * PART * 1_000);
  const [after, endAt] = [await redis.work(), sharedNow()];
  const results = await endAll(workers);
  const sent = workers.flatMap((worker) => worker.takeSends().sent);
  const requests = sent.filter((at) => at >= startAt && at < endAt).length;
  const { calls, cpuMs } = workBetween(before, after);
  const waits = sorted(results.flatMap(({ waitsMs }) => [...waitsMs]));
  return {
    calls: calls / requests,
    rate: requests / ((endAt - startAt) / 1_000) / workers.length,
    callMicros: (1_000 * cpuMs) / calls,
    busy: (100 * cpuMs) / (endAt - startAt),
    busyWaitP50: quantile(waits, 0.5),
    busyWaitP99: quantile(waits, 0.99),
  };
}

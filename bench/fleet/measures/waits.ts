/** Measures the wait of requests that no limit holds back: the round trip to the store. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures } from '../goals.ts';
import { quantile, sorted } from '../timeline.ts';
import { type Context, connectAll, endAll } from './context.ts';

const PER_SECOND = 1_000;
const PART = 0.4;

/** The fleet's total rate is the same for any number of workers. */
export async function measureWaits(context: Context): Promise<Figures> {
  const { workers, seconds } = context;
  const perSecond = Math.ceil(PER_SECOND / workers.length);
  await connectAll(context, { limit: { requests: 100 * PER_SECOND, windowMs: 1_000 } });
  await Promise.all(
    workers.map((worker) => worker.load({ kind: 'arrivals', perSecond, tookMs: 10 })),
  );
  await sleep(seconds * PART * 1_000);
  const results = await endAll(workers);
  for (const worker of workers) worker.takeSends();
  const waits = sorted(results.flatMap(({ waitsMs }) => [...waitsMs]));
  return { waitP50: quantile(waits, 0.5), waitP99: quantile(waits, 0.99) };
}

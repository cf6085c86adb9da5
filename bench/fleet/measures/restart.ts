/** Measures a restart of Redis that loses all data. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures } from '../goals.ts';
import { sharedNow } from '../send-log.ts';
import { sorted } from '../timeline.ts';
import { type Context, connectAll, endAll, limitOf } from './context.ts';
import { figuresOf } from './limits.ts';

const PER_SECOND = 1_000;
const AWAY_MS = 1_500;
const PART = 0.3;

export async function measureRestart(context: Context): Promise<Figures> {
  const { workers, seconds, redis } = context;
  const limit = limitOf(seconds * PART, PER_SECOND);
  await connectAll(context, { limit });
  const begunAt = sharedNow();
  const requests = Math.ceil(PER_SECOND / workers.length);
  await Promise.all(workers.map((worker) => worker.load({ kind: 'backlog', requests, tookMs: 5 })));
  await sleep(seconds * PART * 1_000);
  await redis.stop();
  await sleep(AWAY_MS);
  const backAt = await redis.restart();
  await sleep(seconds * PART * 1_000 + 1_000);
  const endAt = sharedNow();
  const results = await endAll(workers);
  const sends = workers.map((worker) => sorted(worker.takeSends().sent));
  const firsts = sends.map((sent) => sent.find((at) => at >= backAt) ?? Number.POSITIVE_INFINITY);
  const all = sorted(sends.flatMap((sent) => [...sent]));
  return {
    storeBack: Math.max(...firsts) - backAt,
    storeLost: results.reduce((sum, { failed }) => sum + failed, 0),
    storeOvershoot: figuresOf(all, limit, begunAt, begunAt, endAt).overshoot,
  };
}

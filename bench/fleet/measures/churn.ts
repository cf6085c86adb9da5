/** Measures a rate limit while workers start, stop and are killed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures } from '../goals.ts';
import { sharedNow } from '../send-log.ts';
import { sorted } from '../timeline.ts';
import type { WorkerProcess } from '../worker-process.ts';
import { type Context, connectAll, endAll, limitOf } from './context.ts';
import { figuresOf } from './limits.ts';

const PER_SECOND = 2_000;
const LOAD = { kind: 'backlog', requests: 200, tookMs: 5 } as const;
/** The interval at which one worker starts, one stops and one is killed. */
const ROUNDS = 4;

export async function measureChurn(context: Context): Promise<Figures> {
  const { client, workers, seconds, spawn } = context;
  const limit = limitOf(seconds, PER_SECOND);
  const setup = await connectAll(context, { limit });
  const begunAt = sharedNow();
  await Promise.all(workers.map((worker) => worker.load(LOAD, true)));
  const startAt = sharedNow();
  const alive = [...workers];
  const gone: WorkerProcess[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await sleep((seconds * 1_000) / ROUNDS / 3);
    const killed = alive.shift();
    if (killed !== undefined) {
      gone.push(killed);
      await killed.kill();
    }
    await sleep((seconds * 1_000) / ROUNDS / 3);
    const stopped = alive.shift();
    if (stopped !== undefined) {
      await stopped.stop();
      await stopped.close();
      gone.push(stopped);
    }
    const begun = [spawn(), spawn()];
    await Promise.all(begun.map((worker) => worker.connect(client, setup)));
    await Promise.all(begun.map((worker) => worker.load(LOAD, true)));
    alive.push(...begun);
    await sleep((seconds * 1_000) / ROUNDS / 3);
  }
  const endAt = sharedNow();
  await endAll(alive);
  const all = sorted([...gone, ...alive].flatMap((worker) => worker.takeSends().sent));
  const { overshoot, goodput } = figuresOf(all, limit, begunAt, startAt, endAt);
  return { churnOvershoot: overshoot, churnGoodput: goodput };
}

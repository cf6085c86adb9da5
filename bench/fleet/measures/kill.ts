/** Measures how soon the slots of a killed worker are free. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Figures, TTL_MS } from '../goals.ts';
import { inFlightOf } from '../timeline.ts';
import { type Context, connectAll, endAll } from './context.ts';

const SLOTS_A_WORKER = 4;
const TOOK_MS = 40;
const BEFORE_MS = 1_500;

/** Kills the first worker, which is gone afterwards. */
export async function measureKill(context: Context): Promise<Figures> {
  const { workers } = context;
  const slots = SLOTS_A_WORKER * workers.length;
  await connectAll(context, { slots });
  const load = { kind: 'backlog', requests: slots, tookMs: TOOK_MS } as const;
  await Promise.all(workers.map((worker) => worker.load(load, true)));
  await sleep(BEFORE_MS);
  const [killed, ...others] = workers;
  await killed?.kill();
  await sleep(3 * TTL_MS);
  await endAll(others);
  const killedAt = killed?.killedAt ?? Number.NaN;
  const levels = inFlightOf(
    workers.map((worker) => ({
      ...worker.takeSends(),
      ...(worker === killed && { killedAt }),
    })),
  );
  const most = levels.reduce((before, { requests }) => Math.max(before, requests), 0);
  const isBack = ({ at, requests }: (typeof levels)[number]) => at > killedAt && requests >= slots;
  return {
    killedBack: (levels.find(isBack)?.at ?? Number.POSITIVE_INFINITY) - killedAt,
    doubled: Math.max(0, most - slots),
  };
}

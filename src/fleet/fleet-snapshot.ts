import type { FleetLearned, FleetSnapshot } from './fleet-hooks.ts';
import type { Holdings } from './holdings.ts';
import { snapshotOfPlan } from './learning/plan.ts';
import type { GrantReply, Plan } from './protocol.ts';
import type { StoreCaller } from './store-caller.ts';

interface Known {
  readonly worker: string;
  readonly caller: Pick<StoreCaller, 'counts' | 'isAway'>;
  readonly last: GrantReply | undefined;
  readonly holdings: Pick<Holdings, 'slots' | 'bytes'>;
  readonly lostLeases: number;
  readonly isWaiting: boolean;
}

function learnedOf(plan: Plan | undefined): FleetLearned | undefined {
  if (plan === undefined) return undefined;
  const { perSecond, origin, cap, isOut } = snapshotOfPlan(plan);
  return { perSecond, origin, cap, isOut };
}

/** How a worker stands, by the last answer of the store and by what it has counted itself. */
export function fleetSnapshot(known: Known): FleetSnapshot {
  const { last, caller, lostLeases, isWaiting } = known;
  const { slots, bytes } = known.holdings;
  const { calls, failures, latencyMs } = caller.counts;
  return {
    worker: known.worker,
    isAway: caller.isAway,
    workers: last?.workers ?? 0,
    sharers: last?.sharers ?? 0,
    share: last === undefined ? 0 : 1 / Math.max(1, last.sharers),
    slots: { used: slots.used, held: slots.held },
    bytes: { used: bytes.used, held: bytes.held },
    calls,
    failedCalls: failures,
    latencyMs,
    lostLeases,
    handovers: Math.max(0, (last?.terms ?? 0) - 1),
    leads: last?.leads === 1,
    learned: learnedOf(last?.plan),
    epoch: last?.epoch ?? 0,
    waitsFor: isWaiting ? (last?.why ?? '') : '',
  };
}

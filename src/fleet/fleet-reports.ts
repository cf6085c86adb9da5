import type { Instrumentation } from '../model/instrumentation.ts';
import type { Emit } from '../model/policy-events.ts';
import { messageOf } from '../util/print.ts';
import { warn } from '../util/warn.ts';
import type { FleetLearned, FleetSnapshot } from './fleet-hooks.ts';
import type { Holdings } from './holdings.ts';
import { snapshotOfPlan } from './learning/plan.ts';
import type { GrantReply, Plan, SharedConfig, Shortage } from './protocol.ts';
import type { OnStoreLoss } from './shared-store.ts';
import type { StoreCaller } from './store-caller.ts';

interface Known {
  readonly worker: string;
  readonly caller: Pick<StoreCaller, 'counts' | 'isAway'>;
  readonly last: GrantReply | undefined;
  readonly holdings: Pick<Holdings, 'slots' | 'bytes'>;
  readonly lostLeases: number;
  readonly waitsFor: Shortage;
}

function learnedOf(plan: Plan | undefined): FleetLearned | undefined {
  if (plan === undefined) return undefined;
  const { perSecond, origin, cap, isOut } = snapshotOfPlan(plan);
  return { perSecond, origin, cap, isOut };
}

/** The state of a worker, from the last reply of the store and from the worker's own counts. */
export function fleetSnapshot(known: Known): FleetSnapshot {
  const { last, caller, lostLeases, waitsFor } = known;
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
    waitsFor,
  };
}

/**
 * Warns once when a store is lost, and once when it is back, even if many workers of this process
 * use it: a group has a worker for each of its keys.
 */
export class StoreWarnings {
  private away = 0;

  /** @param name of the limiter, stream or group, if it has one */
  lost(message: string, meanwhile: OnStoreLoss, name: string | undefined): void {
    this.away += 1;
    if (this.away > 1) return;
    const consequence =
      meanwhile === 'pause' ? 'nothing is sent' : 'this worker goes on with its share';
    warn(
      `headgate${labelOf(name)} cannot reach the shared store, and ${consequence} until it answers: ${message}`,
    );
  }

  back(awayMs: number, name: string | undefined): void {
    this.away -= 1;
    if (this.away > 0) return;
    warn(`headgate${labelOf(name)} reaches the shared store again after ${Math.round(awayMs)} ms`);
  }

  /** A worker that has lost the store is closed. */
  left(): void {
    this.away -= 1;
  }
}

function labelOf(name: string | undefined): string {
  return name === undefined ? '' : ` (${name})`;
}

const known = new WeakMap<object, StoreWarnings>();

/** The warnings that all workers with the same `peers` share. */
export function warningsOf(peers: object | undefined): StoreWarnings {
  const found = peers && known.get(peers);
  if (found !== undefined) return found;
  const warnings = new StoreWarnings();
  if (peers !== undefined) known.set(peers, warnings);
  return warnings;
}

/** Reports changes of a worker and of its store as events, as warnings and to instrumentation. */
export class FleetReports {
  readonly onStoreLoss: OnStoreLoss;
  private readonly emit: Emit;
  private readonly instrumentation: Instrumentation | undefined;
  private readonly warnings: StoreWarnings;
  private leads = false;
  private isAway = false;

  constructor(
    onStoreLoss: OnStoreLoss | undefined,
    emit: Emit,
    instrumentation: Instrumentation | undefined,
    warnings: StoreWarnings,
  ) {
    this.onStoreLoss = onStoreLoss ?? 'pause';
    this.emit = emit;
    this.instrumentation = instrumentation;
    this.warnings = warnings;
  }

  answered(reply: GrantReply, hasForgotten: boolean, at: number): void {
    if (hasForgotten) this.emit({ kind: 'storeForgot', at });
    if (reply.lost === 1) this.emit({ kind: 'leaseLost', at });
    if ((reply.leads === 1) === this.leads) return;
    this.leads = reply.leads === 1;
    this.emit({ kind: 'leaderChanged', at, leads: this.leads });
  }

  reconfigured(config: SharedConfig, epoch: number, at: number): void {
    const limits = config.limits.map(({ name }) => name);
    this.emit({ kind: 'sharedLimitsChanged', at, epoch, limits });
  }

  lost(error: Error, at: number, name: string | undefined): void {
    const { onStoreLoss: meanwhile } = this;
    const message = messageOf(error);
    this.isAway = true;
    this.warnings.lost(message, meanwhile, name);
    this.emit({ kind: 'storeLost', at, error: message, meanwhile });
  }

  back(awayMs: number, at: number, name: string | undefined): void {
    this.isAway = false;
    this.warnings.back(awayMs, name);
    this.emit({ kind: 'storeBack', at, awayMs });
  }

  called(tookMs: number, isAnswered: boolean): void {
    this.instrumentation?.storeCalled?.(tookMs, isAnswered);
  }

  /** The worker is closed. */
  close(): void {
    if (this.isAway) this.warnings.left();
    this.isAway = false;
  }
}

import {
  type FleetHooks,
  type FleetNews,
  type FleetSnapshot,
  NO_LESSON,
} from '../fleet/fleet-hooks.ts';
import { FleetPolicy } from '../fleet/fleet-policy.ts';
import { FleetReports } from '../fleet/fleet-reports.ts';
import { FleetWorker, RESERVED_MS } from '../fleet/fleet-worker.ts';
import type { GrantReply, SharedConfig, SharedStore } from '../fleet/protocol.ts';
import { sharedConfigOf } from '../fleet/shared-limits-config.ts';
import { timesOf } from '../fleet/store-settings.ts';
import type { StoreWarnings } from '../fleet/store-warnings.ts';
import type { Instrumentation } from '../model/instrumentation.ts';
import type { GaugeValue } from '../model/metric.ts';
import type { Emit } from '../model/policy-events.ts';
import type { Policy } from '../policies/policy.ts';
import type { RateLimitPolicy } from '../policies/rate-limit-policy.ts';
import type { Clock } from '../util/clock.ts';

/** Where slots, or bytes, have no bound. */
const UNBOUND = 1_000_000_000_000;

/** A worker that learns nothing, and closes nothing. */
const NO_NEWS: FleetNews = { closed: 0, throttled: 0, broken: 0, lesson: NO_LESSON };

/** How the groups of several processes meet at a store. */
export interface CommonStore {
  readonly store: SharedStore;
  readonly clock: Clock;
  readonly warnings: StoreWarnings;
  readonly instrumentation: Instrumentation | undefined;
}

/** The limits that all keys of a group share. */
interface CommonLimits {
  readonly rateLimit: RateLimitPolicy | undefined;
  /** Undefined: no bound. */
  readonly concurrency: number | undefined;
  readonly maxBytes: number | undefined;
}

/** Binds the limits that all keys of a group share to those of the same group in other processes. */
export class CommonFleet implements FleetHooks {
  readonly policy: Policy;
  private readonly reports: FleetReports;
  private readonly worker: FleetWorker;
  /** How many requests wait for these limits, and what lets them pass. */
  private turns: { readonly waiting: number; drain(): void } | undefined = undefined;

  /** @throws TypeError for limits that cannot be shared */
  constructor(
    { store, clock, warnings, instrumentation }: CommonStore,
    { rateLimit, concurrency = UNBOUND, maxBytes = UNBOUND }: CommonLimits,
    emit: Emit,
  ) {
    const times = { ...timesOf(store), tickMs: RESERVED_MS };
    const config = sharedConfigOf(rateLimit?.limits.rules ?? [], concurrency, maxBytes, times);
    this.reports = new FleetReports(store.onStoreLoss, emit, instrumentation, warnings);
    this.worker = new FleetWorker(store, config, clock, this);
    this.policy = new FleetPolicy(() => this.worker, rateLimit);
  }

  /** Called before anything waits. */
  begin(turns: CommonFleet['turns']): void {
    this.turns = turns;
  }

  snapshot(): FleetSnapshot {
    return this.worker.snapshot();
  }

  gauges(): Readonly<Record<string, GaugeValue>> {
    const { share, workers, isAway } = this.snapshot();
    const storeAway = { [this.reports.onStoreLoss]: isAway ? 1 : 0 };
    return { fleetShare: share, fleetWorkers: workers, storeAway };
  }

  close(): void {
    this.reports.close();
    this.worker.close();
  }

  waiting(): number {
    return this.turns?.waiting ?? 0;
  }

  news(): FleetNews {
    return NO_NEWS;
  }

  beatMs(): number {
    return Number.POSITIVE_INFINITY;
  }

  answered(reply: GrantReply, hasForgotten: boolean, now: number): void {
    this.reports.answered(reply, hasForgotten, now);
  }

  reconfigured(config: SharedConfig, epoch: number, at: number): void {
    this.reports.reconfigured(config, epoch, at);
  }

  lost(error: Error, at: number): void {
    this.reports.lost(error, at);
  }

  back(awayMs: number, at: number): void {
    this.reports.back(awayMs, at);
  }

  called(tookMs: number, isAnswered: boolean): void {
    this.reports.called(tookMs, isAnswered);
  }

  changed(): void {
    this.turns?.drain();
  }
}

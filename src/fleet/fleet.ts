import type { GaugeValue } from '../model/gauge.ts';
import { checkInstrumentation, type Instrumentation } from '../model/instrumentation.ts';
import type { Emit } from '../model/policy-events.ts';
import { AdaptiveRatePolicy } from '../policies/adaptive-rate-policy.ts';
import type { Policies } from '../policies/policies.ts';
import type { Policy } from '../policies/policy.ts';
import type { LimitChanges } from '../policies/rate-limit/limit-changes.ts';
import { checkRateLimits, type RateLimit } from '../policies/rate-limit/rate-limit.ts';
import type { RateLimitPolicy } from '../policies/rate-limit-policy.ts';
import { checkFunction, checkMethods } from '../util/check.ts';
import {
  type FleetHooks,
  type FleetNews,
  type FleetSnapshot,
  type Lesson,
  NO_LESSON,
} from './fleet-hooks.ts';
import { FleetPolicy } from './fleet-policy.ts';
import { FleetReports, type StoreWarnings, warningsOf } from './fleet-reports.ts';
import { FleetWorker, RESERVED_MS } from './fleet-worker.ts';
import { AttemptReports } from './learning/attempt-reports.ts';
import { FleetLearning } from './learning/fleet-learning.ts';
import { PlanNews } from './learning/plan-news.ts';
import type { GrantReply, SharedConfig, WorkerShare } from './protocol.ts';
import { micro, sharedConfigOf, sharedLimitsOf } from './shared-limits-config.ts';
import {
  checkStoreSettings,
  type FleetGate,
  type JoinFleet,
  type OnStoreLoss,
  type RemoteLimits,
  type SharedStore,
  timesOf,
} from './shared-store.ts';

/** Times that differ by at most this, in ms, count as equal: rounding, or the way to the store. */
const SAME_MS = 20;
const NEVER = Number.NEGATIVE_INFINITY;

/**
 * The code with which limiters and streams share through a store, for a {@link SharedStore} of your
 * own. `redisStore` and `memoryStore` contain it already.
 *
 * @throws RangeError or TypeError that names a wrong argument, or a wrong setting of the store
 * @example
 * const shared: SharedStore = { join: joinFleet, exchange: (request) => decide(request) };
 */
export const joinFleet: JoinFleet = (store, emit, instrumentation, peers) => {
  checkMethods('store', store, ['exchange']);
  checkStoreSettings(store);
  checkFunction('emit', emit);
  checkInstrumentation(instrumentation);
  if (peers !== undefined) checkMethods('peers', peers, []);
  return new Fleet(store, emit, instrumentation, warningsOf(peers));
};

/** Binds a gate to the store that it shares with other workers of its key. */
class Fleet implements RemoteLimits, FleetHooks {
  private readonly store: SharedStore;
  private readonly emit: Emit;
  private readonly reports: FleetReports;
  private gate: FleetGate | undefined = undefined;
  private worker: FleetWorker | undefined = undefined;
  private policy: FleetPolicy | undefined = undefined;
  private own: RateLimitPolicy | undefined = undefined;
  /** The last configuration of this worker; the fleet may have adopted another one since. */
  private said: SharedConfig | undefined = undefined;
  /** The ends of backoff, throttled mode and open circuit that the store knows, by our clock. */
  private closedTold = NEVER;
  private throttledTold = NEVER;
  private brokenTold = NEVER;
  private unwatch: () => void = () => {};
  /** Undefined: the rate does not adapt. */
  private learning: FleetLearning | undefined = undefined;
  private readonly attempts = new AttemptReports();
  private planNews = new PlanNews();

  /** @param warnings shared by all workers of this process that use the same store */
  constructor(
    store: SharedStore,
    emit: Emit,
    instrumentation: Instrumentation | undefined,
    warnings: StoreWarnings,
  ) {
    this.store = store;
    this.emit = emit;
    this.reports = new FleetReports(store.onStoreLoss, emit, instrumentation, warnings);
  }

  begin(gate: FleetGate): void {
    this.gate = gate;
    this.said = this.config(gate);
    this.worker = new FleetWorker(this.store, this.said, gate.feedback.clock, this);
    const urge = () => this.worker?.urge();
    this.unwatch = gate.feedback.provider.users.watch({ backoff: urge, modeBegan: urge });
  }

  /** If the rate adapts, it is learned from the observations of all workers. */
  adapts(adaptive: Policies['adaptive']): void {
    if (adaptive instanceof AdaptiveRatePolicy) {
      const learning = new FleetLearning(
        adaptive,
        this.attempts,
        () => this.worker?.account.config,
      );
      this.learning = learning;
      adaptive.follow(learning);
    } else this.learning = undefined;
    if (this.policy !== undefined) this.policy.isLearning = this.learning !== undefined;
  }

  /** @throws TypeError for limits that cannot be shared */
  policyOf(own: RateLimitPolicy | undefined): Policy {
    if (this.policy !== undefined && this.own === own) return this.policy;
    this.own = own;
    this.policy = new FleetPolicy(() => this.worker, own, this.attempts);
    this.policy.isLearning = this.learning !== undefined;
    return this.policy;
  }

  check(changes: LimitChanges): void {
    const given: Record<string, RateLimit> = {};
    for (const [name, limit] of Object.entries(changes)) if (limit !== null) given[name] = limit;
    if (Object.keys(given).length > 0) sharedLimitsOf(checkRateLimits(given));
  }

  configured(namesLimits = true): void {
    const { gate, worker, said } = this;
    if (gate === undefined || worker === undefined) return;
    const config = this.config(gate);
    this.said = config;
    const isNew = namesLimits || !areEqual(config, said);
    // A change of `adaptive` alone leaves the limits of others in force.
    const { startSlots } = config;
    const next = namesLimits ? config : { ...worker.account.config, startSlots };
    if (isNew && !areEqual(next, worker.account.config)) worker.configure(next);
  }

  used(tokens: number): void {
    this.worker?.used('tokens', micro(tokens));
  }

  snapshot(): FleetSnapshot | undefined {
    return this.worker?.snapshot();
  }

  gauges(): Readonly<Record<string, GaugeValue>> {
    const known = this.snapshot();
    if (known === undefined) return {};
    const { share, workers, leads, isAway } = known;
    return {
      // The shares of several keys must not be added up.
      ...(this.gate?.key === undefined && { fleetShare: share }),
      fleetWorkers: workers,
      fleetLeads: leads ? 1 : 0,
      storeAway: { [this.onStoreLoss]: isAway ? 1 : 0 },
    };
  }

  get onStoreLoss(): OnStoreLoss {
    return this.reports.onStoreLoss;
  }

  async workers(): Promise<readonly WorkerShare[] | undefined> {
    return await this.store.workers?.();
  }

  close(): void {
    this.unwatch();
    this.reports.close();
    this.worker?.close();
  }

  /** A paused worker asks for nothing, so that the others get its share. */
  waiting(): number {
    const { waiting = 0, isPaused } = this.gate?.gate ?? {};
    return isPaused === true ? 0 : waiting;
  }

  isHeldElsewhere(): boolean {
    return this.gate?.gate.policy?.isShared === true;
  }

  isNextElsewhere(): boolean {
    return this.gate?.gate.policy?.isNext === true;
  }

  news(now: number): FleetNews {
    const { until, throttledUntil } = (this.gate as FleetGate).feedback.gate.policy;
    const closed = until > this.closedTold + SAME_MS ? left(until, now) : 0;
    const throttled = throttledUntil > this.throttledTold + SAME_MS ? left(throttledUntil, now) : 0;
    const brokenUntil = this.brokenUntil(now);
    const broken = brokenUntil > this.brokenTold + SAME_MS ? left(brokenUntil, now) : 0;
    this.closedTold = Math.max(this.closedTold, until);
    this.throttledTold = Math.max(this.throttledTold, throttledUntil);
    this.brokenTold = Math.max(this.brokenTold, brokenUntil);
    return { closed, throttled, broken, lesson: this.lesson(now) };
  }

  /** If the rate adapts no longer, others still learn how the attempts in flight end. */
  private lesson(now: number): Lesson {
    return this.learning?.lesson(now) ?? { ...NO_LESSON, ...this.attempts.take(now) };
  }

  beatMs(now: number): number {
    return this.learning?.beatMs(now) ?? Number.POSITIVE_INFINITY;
  }

  answered(reply: GrantReply, hasForgotten: boolean, now: number, sentAt: number): void {
    this.learned(reply, now, sentAt);
    if (hasForgotten) this.closedTold = this.throttledTold = this.brokenTold = NEVER;
    const { feedback } = this.gate as FleetGate;
    const { policy } = feedback.gate;
    const closedMs = reply.closed / 1_000;
    const throttledMs = reply.throttled / 1_000;
    const isLonger = now + closedMs > Math.max(policy.until, now) + SAME_MS;
    const isSlower = now + throttledMs > Math.max(policy.throttledUntil, now) + SAME_MS;
    if (isLonger || isSlower) {
      // Set first: `heard` calls the listeners of the backoff, and they ask for news.
      this.closedTold = Math.max(this.closedTold, now + closedMs);
      this.throttledTold = Number.POSITIVE_INFINITY;
      feedback.provider.heard(isLonger ? closedMs : 0, throttledMs);
      this.throttledTold = policy.throttledUntil;
    }
    this.reports.answered(reply, hasForgotten, now);
  }

  private learned(reply: GrantReply, now: number, sentAt: number): void {
    const { learning, gate } = this;
    if (learning === undefined || gate === undefined) return;
    learning.answered(reply, sentAt, now);
    if (learning.isUrgent) this.worker?.hurry(now);
    for (const change of this.planNews.changes(reply.plan, gate.slots.maxLimit, now)) {
      if (change.kind === 'outageStarted') gate.feedback.provider.setOutage(gate, true);
      else if (change.kind === 'outageEnded') gate.feedback.provider.setOutage(gate, false);
      this.emit(change);
    }
  }

  reconfigured(config: SharedConfig, epoch: number, at: number): void {
    this.reports.reconfigured(config, epoch, at);
  }

  lost(error: Error, at: number): void {
    this.reports.lost(error, at, this.gate?.name);
  }

  back(awayMs: number, at: number): void {
    this.reports.back(awayMs, at, this.gate?.name);
  }

  called(tookMs: number, isAnswered: boolean): void {
    this.reports.called(tookMs, isAnswered);
  }

  changed(): void {
    this.gate?.gate.drain();
  }

  private config(gate: FleetGate): SharedConfig {
    const { slots, bytes, policies } = gate;
    const rules = policies.rateLimit?.limits.rules ?? [];
    const startSlots = this.learning?.startSlots ?? 0;
    const times = { ...timesOf(this.store), tickMs: RESERVED_MS, startSlots };
    return sharedConfigOf(rules, slots.maxLimit, bytes.maxBytes, times);
  }

  /** When the open circuit breaker lets a probe be sent; -Infinity: it is not open. */
  private brokenUntil(now: number): number {
    const { circuitBreaker } = (this.gate as FleetGate).policies;
    if (circuitBreaker?.snapshot(now).state !== 'open') return NEVER;
    const at = circuitBreaker.nextChangeAt;
    return at === Number.POSITIVE_INFINITY ? NEVER : at;
  }
}

function areEqual(one: SharedConfig, other: SharedConfig | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Microseconds until a time; 0: it has passed. */
function left(at: number, now: number): number {
  return at > now ? Math.ceil((at - now) * 1_000) : 0;
}

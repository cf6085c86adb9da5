import type { RateSnapshot } from '../../policies/adaptive-rate/rate-snapshot.ts';
import type { AdaptiveRatePolicy, FollowedRate } from '../../policies/adaptive-rate-policy.ts';
import type { Lesson } from '../fleet-hooks.ts';
import { type GrantReply, MICRO, type Plan, type SharedConfig } from '../protocol.ts';
import { REACTION_MS } from '../worker-account.ts';
import type { AttemptReports } from './attempt-reports.ts';
import { FleetLearner } from './fleet-learner.ts';
import { fleetLimits } from './fleet-limits.ts';
import { FleetRateLearner } from './fleet-rate-learner.ts';
import { snapshotOfPlan } from './plan.ts';

/** How often the leader plans at most, without news, in ms. */
const BEAT_MS = 50;

/**
 * One worker's part in the learning of its fleet: it reports its observations. While it leads, it
 * runs the learning controller on the reports of all workers.
 */
export class FleetLearning implements FollowedRate {
  private readonly reports: AttemptReports;
  private readonly policy: AdaptiveRatePolicy;
  private readonly config: () => SharedConfig | undefined;
  private leader: FleetLearner | undefined = undefined;
  /** The term in which this worker leads; 0: it does not. */
  private term = 0;
  private heard = 0;
  private isStateTold = true;
  private plan: Plan | undefined = undefined;
  /** The store's time in the last reply, and this worker's time for the same moment, in ms. */
  private storeAt = 0;
  private heardAt = 0;
  /** Whether any worker sends or has waiting requests, as of the last call. */
  private isActive = false;

  /** @param config the settings that the fleet shares now */
  constructor(
    policy: AdaptiveRatePolicy,
    reports: AttemptReports,
    config: () => SharedConfig | undefined,
  ) {
    this.config = config;
    this.policy = policy;
    this.reports = reports;
  }

  /** Requests in flight until there is a plan. */
  get startSlots(): number {
    const { startLimit, maxLimit } = this.policy.context;
    return Math.min(startLimit, maxLimit);
  }

  /** Whether this worker leads and has read a rejection since its last plan. */
  get isUrgent(): boolean {
    return this.term > 0 && this.leader?.hasNews === true;
  }

  /** The longest time between two calls, in ms; Infinity: no limit. */
  beatMs(now: number): number {
    const { leader, term, isActive } = this;
    if (term === 0 || !isActive || leader === undefined) return Number.POSITIVE_INFINITY;
    return Math.max(BEAT_MS, leader.lastsMs(this.storeTime(now)));
  }

  /** Takes out the fields of the next call that concern learning. */
  lesson(now: number): Lesson {
    const told = this.reports.take(now);
    const { leader, term } = this;
    const isTelling = leader !== undefined && term > 0;
    const plan = isTelling ? leader.plan(this.storeTime(now)) : undefined;
    const isStateNew = isTelling && !this.isStateTold;
    this.isStateTold = true;
    return {
      leads: 1,
      term,
      heard: this.heard,
      sends: told?.sends ?? 0,
      ...(told !== undefined && { report: told.report }),
      ...(plan !== undefined && { plan }),
      ...(isStateNew && { learned: leader?.state ?? null }),
    };
  }

  /** @param sentAt when the answered call was made */
  answered(reply: GrantReply, sentAt: number, now: number): void {
    this.storeAt = reply.now / 1_000;
    this.isActive = reply.sharers > 0;
    // The store made its reply between these two times: assumes the middle.
    this.heardAt = (sentAt + now) / 2;
    this.plan = reply.plan;
    if (reply.leads === 0) {
      this.term = 0;
      return;
    }
    const isNew = this.term !== reply.terms;
    if (isNew) this.begin(reply);
    this.heard = reply.lastReport;
    if (reply.reports !== undefined) {
      this.leader?.read(reply.reports);
      this.isStateTold = false;
    }
    if (isNew && reply.terms > 1) this.leader?.begun(this.storeAt);
  }

  snapshot(now: number): RateSnapshot {
    if (this.term > 0 && this.leader !== undefined)
      return this.leader.snapshot(this.storeTime(now));
    return snapshotOfPlan(this.plan);
  }

  /**
   * Begins to lead: continues from the state that the last leader has stored, else with what it has
   * learned itself.
   */
  private begin(reply: GrantReply): void {
    const now = reply.now / 1_000;
    this.term = reply.terms;
    const isAlone = reply.learned === undefined && this.leader !== undefined;
    if (isAlone) return;
    const { startSlots } = this;
    const { hard: own, startPerMs, isStartSet, maxRetryAfterMs } = this.policy.context;
    const hard = fleetLimits(own, this.config);
    const learner = new FleetRateLearner(hard, undefined, maxRetryAfterMs, startSlots, REACTION_MS);
    if (startPerMs !== undefined) learner.begin(startPerMs, now);
    if (isStartSet) learner.keepStart();
    const leader = new FleetLearner(learner);
    this.leader = leader;
    if (reply.learned !== undefined && leader.restore(reply.learned, now)) return;
    const { plan } = reply;
    // If the stored state cannot be read, the measured rate of the plan is still of use.
    if (plan !== undefined && plan.measuredPerHour > 0) {
      leader.learner.begin(plan.measuredPerHour / 3_600_000_000_000, now);
    }
  }

  /** As of the plan. */
  get waitShare(): number {
    return (this.plan?.waitShare ?? MICRO) / MICRO;
  }

  private storeTime(now: number): number {
    return this.storeAt + Math.max(0, now - this.heardAt);
  }
}

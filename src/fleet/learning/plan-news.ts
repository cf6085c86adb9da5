import type { AdaptationReason, PolicyEvent } from '../../model/policy-events.ts';
import type { Plan } from '../protocol.ts';
import { snapshotOfPlan } from './plan.ts';

/** A change of the rate by this part causes an event. */
const DRIFT = 0.1;

/** Finds the changes of a plan that cause an event. All workers find the same ones. */
export class PlanNews {
  private plan: Plan | undefined = undefined;
  /** The rate of the last event. */
  private toldPerSecond = Number.POSITIVE_INFINITY;

  /** @param most the limit of requests in flight if the plan sets none */
  changes(plan: Plan | undefined, most: number, at: number): PolicyEvent[] {
    const before = this.plan;
    this.plan = plan;
    if (plan === undefined) return [];
    const events: PolicyEvent[] = [];
    const { perSecond: to, origin } = snapshotOfPlan(plan);
    const from = this.toldPerSecond;
    const isMeasured = before !== undefined && plan.measured !== before.measured;
    if (isMeasured || hasDrifted(from, to)) {
      const isTold = origin === 'headers' || origin === 'limit';
      const drift: AdaptationReason = isTold ? origin : to > from ? 'accepted' : 'estimate';
      const reason = isMeasured ? 'rejected' : drift;
      events.push({ kind: 'rateAdapted', at, reason, from, to });
      this.toldPerSecond = to;
    }
    const [fromLimit, toLimit] = [before?.slots || most, plan.slots || most];
    if (fromLimit !== toLimit) {
      const reason = toLimit < fromLimit ? 'rejected' : 'accepted';
      events.push({ kind: 'limitAdapted', at, reason, from: fromLimit, to: toLimit });
    }
    if (plan.isOut !== (before?.isOut ?? 0)) {
      const kind = plan.isOut === 1 ? 'outageStarted' : 'outageEnded';
      events.push({ kind, at, reason: 'rejected' });
    }
    return events;
  }
}

function hasDrifted(told: number, perSecond: number): boolean {
  if (perSecond === told || perSecond === Number.POSITIVE_INFINITY) return false;
  return Math.abs(perSecond - told) >= DRIFT * Math.min(perSecond, told);
}

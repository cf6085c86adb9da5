import type { PolicyEvent } from '../../model/policy-events.ts';
import { RateEvents } from '../../policies/rate-events.ts';
import type { Plan } from '../protocol.ts';
import { snapshotOfPlan } from './plan.ts';

/** Finds the changes of a plan that cause an event. All workers find the same ones. */
export class PlanNews {
  private plan: Plan | undefined = undefined;
  private found: PolicyEvent[] = [];
  private readonly events = new RateEvents((event) => this.found.push(event));

  /** @param most the limit of requests in flight if the plan sets none */
  changes(plan: Plan | undefined, most: number, at: number): readonly PolicyEvent[] {
    const { plan: before, events } = this;
    this.plan = plan;
    this.found = [];
    if (plan === undefined) return [];
    const rate = snapshotOfPlan(plan);
    const isMeasured = before !== undefined && plan.measured !== before.measured;
    if (isMeasured) events.measured(events.perSecond, rate.perSecond, at);
    else events.drifted(rate, at);
    const [from, to] = [before?.slots || most, plan.slots || most];
    if (from !== to) events.limited(from, to, at);
    if (plan.isOut !== (before?.isOut ?? 0)) events.outage(plan.isOut === 1, at);
    return this.found;
  }
}

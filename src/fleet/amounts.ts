import type { FleetRequest } from './fleet-hooks.ts';
import { MICRO, type Plan, type SharedConfig } from './protocol.ts';

/** The length of a list of amounts: the limits, and the two learned rates. */
export function placesOf(config: SharedConfig): number {
  return config.limits.length + 2;
}

/** The cost of a request, by limit, the learned ones last. */
export function costsOf(request: FleetRequest, plan: Plan | undefined): readonly number[] {
  if (plan === undefined) return request.costs;
  return [
    ...request.costs,
    plan.requestsPerHour > 0 ? MICRO : 0,
    plan.tokensPerHour > 0 ? request.tokens : 0,
  ];
}

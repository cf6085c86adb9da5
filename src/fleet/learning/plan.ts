import { NOTHING_KNOWN, type RateSnapshot } from '../../policies/adaptive-rate/rate-snapshot.ts';
import { MICRO, ORIGINS, type Plan } from '../protocol.ts';
import type { Outlook } from './fleet-rate-learner.ts';

const HOUR_MS = 3_600_000;
const HOUR_SECONDS = 3_600;
/** The capacity of a learned rate's bucket, in ms of that rate: the delay of timers and calls. */
const LATE_MS = 10;
/** The refill per ms if nothing bounds a rate: more than a store can grant. */
const UNBOUND_PER_MS = 100;
const UNBOUND_TOKENS_PER_MS = 100_000;
/** Stands for a budget without bound. */
const UNBOUND = 1_000_000_000;

/**
 * The plan of a learner, in the units of the protocol.
 * @param tokens the mean tokens of a request
 * @param measuredPerSecond the rate of the last measurement; 0: there was none
 */
export function planOf(
  outlook: Outlook,
  tokens: number,
  measuredPerSecond: number,
  measured: number,
): Plan {
  const { perMs, tokensPerMs, burst, budget, limit, closedMs, isOut, origin, waitShare } = outlook;
  const rate = Math.min(perMs, UNBOUND_PER_MS);
  const alone = Math.min(outlook.alonePerMs, UNBOUND_PER_MS);
  const areTokens = tokensPerMs !== Number.POSITIVE_INFINITY;
  const tokenRate = areTokens ? Math.min(tokensPerMs, UNBOUND_TOKENS_PER_MS) : 0;
  return {
    requestsPerHour: Math.max(1, Math.floor(rate * HOUR_MS * MICRO)),
    requestsCapacity: Math.floor(Math.max(1, burst, Math.min(rate * LATE_MS, budget)) * MICRO),
    tokensPerHour: areTokens ? Math.max(1, Math.floor(tokenRate * HOUR_MS * MICRO)) : 0,
    tokensCapacity: areTokens ? Math.floor(Math.max(tokens, tokenRate * LATE_MS, 1) * MICRO) : 0,
    alonePerHour: Math.max(1, Math.floor(alone * HOUR_MS * MICRO)),
    slots: limit ?? 0,
    budget: Math.min(UNBOUND, budget),
    closed: Math.ceil(Math.min(closedMs, HOUR_MS) * 1_000),
    isOut: isOut ? 1 : 0,
    origin: ORIGINS.indexOf(origin),
    measuredPerHour: Math.floor(measuredPerSecond * HOUR_SECONDS * MICRO),
    measured,
    waitShare: Math.floor(waitShare * MICRO),
  };
}

/** The learned rate, as a worker that does not lead knows it from the plan. */
export function snapshotOfPlan(plan: Plan | undefined): RateSnapshot {
  if (plan === undefined) return NOTHING_KNOWN;
  const { requestsPerHour, tokensPerHour, measuredPerHour, slots, isOut } = plan;
  const origin = ORIGINS[plan.origin] ?? 'start';
  const isBound = requestsPerHour < UNBOUND_PER_MS * HOUR_MS * MICRO;
  return {
    ...NOTHING_KNOWN,
    perSecond: isBound ? perSecond(requestsPerHour) : Number.POSITIVE_INFINITY,
    // A rate without bound has no origin: with one it would be shown as a rate.
    origin: isBound ? origin : 'start',
    ceilingPerSecond: measuredPerHour > 0 ? perSecond(measuredPerHour) : undefined,
    burst: Math.floor(plan.requestsCapacity / MICRO),
    cap: slots > 0 ? slots : undefined,
    tokens: tokensPerHour > 0 ? { perSecond: perSecond(tokensPerHour), origin } : undefined,
    isOut: isOut === 1,
  };
}

function perSecond(perHour: number): number {
  return perHour / MICRO / HOUR_SECONDS;
}

import type { LimitRule } from '../policies/rate-limit/rate-limit.ts';
import { checkBetween, show } from '../util/check.ts';
import { MICRO, type SharedConfig, type SharedLimit } from './protocol.ts';

/** The part of a limit that may be used at once. More makes bursts; less wastes unused amounts. */
const CAPACITY = 0.01;
/**
 * What flows in within this time, in ms, may be used at once, too, up to this part of the limit:
 * workers call the store every 25 to 50 ms, and would lose what flows in between.
 */
const FLOW_MS = 50;
const MOST_CAPACITY = 0.05;
/** The longest delay from a grant to its use, as a part of the window and in ms. */
const LATE = 0.01;
const LATE_MS = 50;

const HOUR_MS = 3_600_000;
/** An unpaired surrogate: Redis does not parse JSON that contains one. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** The timing settings of the workers of one key, in ms. */
export interface SharedTimes {
  readonly ttlMs: number;
  readonly keepMs: number;
  readonly tickMs: number;
  /** Requests in flight until the fleet has a plan; default 0: as many as the slots. */
  readonly startSlots?: number;
}

/**
 * The limits of a worker as the store keeps them. A window becomes a bucket. The bucket holds a
 * hundredth of the limit, but at least one unit and the refill of 50 ms (up to a twentieth of the
 * limit). The rest of the limit is refilled in the course of a window. So if costs are whole units,
 * no window exceeds the limit, wherever it begins. But if costs exceed the bucket and do not divide
 * the limit, a window may hold one request more.
 * @throws RangeError or TypeError for a limit that the store cannot keep
 */
export function sharedConfigOf(
  rules: readonly LimitRule[],
  slots: number,
  bytes: number,
  { ttlMs, keepMs, tickMs, startSlots = 0 }: SharedTimes,
): SharedConfig {
  return {
    limits: sharedLimitsOf(rules),
    slots,
    bytes,
    ttl: ttlMs * 1_000,
    keep: keepMs * 1_000,
    tick: tickMs * 1_000,
    startSlots,
  };
}

/** @throws RangeError or TypeError for a limit that the store cannot keep */
export function sharedLimitsOf(rules: readonly LimitRule[]): SharedLimit[] {
  return rules.map(sharedLimitOf);
}

function sharedLimitOf({ name, limit, windowMs, algorithm, maxCost }: LimitRule): SharedLimit {
  if (windowMs === Number.POSITIVE_INFINITY) {
    throw new TypeError(
      `\`limits.${name}.windowMs\` must be finite with \`shared\`: the store keeps no quotas; got ${show(windowMs)}`,
    );
  }
  if (LONE_SURROGATE.test(name)) {
    throw new TypeError(
      `the name of a limit must be well-formed text with \`shared\`, got ${show(name)}`,
    );
  }
  checkBetween(`limits.${name}.limit`, limit, 1, Number.MAX_SAFE_INTEGER);
  if (algorithm === 'token-bucket') {
    checkBetween(`limits.${name}.burst`, maxCost, 1, Number.MAX_SAFE_INTEGER);
    return { name, capacity: micro(maxCost), perHour: perHourOf(limit, windowMs) };
  }
  const soon = Math.ceil((limit * Math.min(FLOW_MS, windowMs * MOST_CAPACITY)) / windowMs);
  const capacity = Math.max(1, Math.floor(limit * CAPACITY), soon);
  const lateMs = Math.min(LATE_MS, windowMs * LATE);
  // With whole units, a half-open window holds less than the capacity plus the refill.
  return {
    name,
    capacity: micro(capacity),
    perHour: perHourOf(limit - capacity + 1, windowMs + lateMs),
  };
}

function perHourOf(amount: number, windowMs: number): number {
  return Math.max(1, Math.floor((amount * MICRO * HOUR_MS) / windowMs));
}

/** An amount in the unit of the protocol. */
export function micro(amount: number): number {
  return Math.ceil(amount * MICRO);
}

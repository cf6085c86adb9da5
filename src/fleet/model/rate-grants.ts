import { type Demand, type ExchangeRequest, MICRO, type SharedConfig } from '../protocol.ts';
import {
  type Bucket,
  charge,
  emptyBucket,
  flowTime,
  leaveRoom,
  ready,
  resize,
  restore,
  shareOfFlow,
  spend,
} from './bucket.ts';
import type { FleetState } from './fleet-state.ts';
import { bound } from './outstanding.ts';

/**
 * The number of ticks, and of calls, in whose time a share of the refill may be reserved: the refill
 * until the next call, and during it.
 */
const RESERVED = 2;
/**
 * Calls count as no longer than this, in microseconds: what is reserved is lost if its worker is
 * killed, and the requests of a worker that was idle come after it. If calls of 1 s counted, and
 * took between 0.5 and 1.5 s, a window of a second would get 134 instead of 118 %.
 */
const LONGEST_CALL = 400_000;
/**
 * `slowest` falls by one microsecond in this number of them. Reserved amounts are used half of it
 * later than they are due, so they are used 0.5 % faster meanwhile, which is less than windows leave.
 */
const FALL = 100;

/** The newest configuration wins. A limit that stays keeps what its bucket holds. */
export function configure(state: FleetState, config: SharedConfig): void {
  if (JSON.stringify(config) === JSON.stringify(state.config)) return;
  const before = state.config?.limits ?? [];
  const buckets = config.limits.map(({ name, capacity, perHour }) => {
    const kept = state.buckets[before.findIndex((limit) => limit.name === name)];
    if (kept === undefined) return emptyBucket(capacity, perHour);
    resize(kept, capacity, perHour);
    return kept;
  });
  const learned = state.buckets.slice(-2);
  state.buckets = [...buckets, learned[0] ?? emptyBucket(0, 0), learned[1] ?? emptyBucket(0, 0)];
  state.config = config;
  // Workers drop their grants when they hear of other limits.
  for (const bucket of state.buckets) bucket.out = 0;
  state.epoch += 1;
}

/** Corrects earlier charges: takes back unused amounts, and charges or refunds differences. */
export function settle(state: FleetState, request: ExchangeRequest): void {
  const { settled, returned, unused: kept, demand, keeps } = request;
  const limits = state.buckets.length - 2;
  // Without a plan, requests are late for want of slots only, by less.
  const isPaced = state.plan !== undefined;
  const next = demand.find(({ spare }) => spare !== 1);
  state.buckets.forEach((bucket, place) => {
    if (bucket.perHour === 0) return;
    const unused = returned[place] ?? 0;
    if (unused > 0) restore(bucket, unused);
    if (keeps === 1) leaveRoom(bucket, kept[place] ?? 0);
    const cost = next === undefined ? 0 : costAt(next, place, limits);
    const amount = settled[place] ?? 0;
    // Amounts that are reserved for slow calls are not late.
    const ahead = isPaced ? shareOfFlow(bucket, RESERVED * state.slowest, 1) : 0;
    if (isPaced) bound(bucket, cost, Math.max(0, -amount), ahead);
    if (amount !== 0) charge(bucket, amount, cost);
    // Requests of the budget that were granted and not sent may be granted again.
    const isLearned = place === limits;
    if (isLearned) {
      state.budget += Math.floor(unused / MICRO) + Math.floor(Math.max(0, -amount) / MICRO);
    }
  });
}

/** A worker tells what its calls take. */
export function tookTime(state: FleetState, { took }: ExchangeRequest): void {
  const { now, slowest, slowestAt } = state;
  const before = slowest - Math.floor((now - slowestAt) / FALL);
  state.slowest = Math.max(before, Math.min(took, LONGEST_CALL));
  state.slowestAt = now;
}

/**
 * For how long a worker may reserve, in microseconds. This is the same for all workers, whatever
 * their calls take: a worker that may reserve more than the others would get more of the rate.
 */
export function reservesFor({ slowest, config }: FleetState): number {
  return RESERVED * ((config as SharedConfig).tick + slowest);
}

/** A grant of rate limits. */
export interface RateGrant {
  readonly count: number;
  readonly amounts: number[];
  /** When each amount may be used: evenly between these times from now, in microseconds. */
  readonly from: readonly number[];
  readonly until: readonly number[];
  /** The index of the limit that is short; -1: none is. */
  readonly limit: number;
}

/** The cost of one request in one bucket; the learned buckets are last. */
function costAt(demand: Demand, place: number, limits: number): number {
  if (place < limits) return demand.costs[place] ?? 0;
  return place === limits ? MICRO : demand.tokens;
}

/**
 * Charges as many of the first requests as a worker may send now or reserve: the level of the
 * buckets, and its share of the refill within a time. The first request is always reserved if
 * the worker has no unused grant for it, so that a large request is late but never starves.
 * @param within for how long it may reserve, in microseconds
 * @param budget the most requests for all workers, if a rate of requests is learned
 */
export function grantRates(
  buckets: readonly Bucket[],
  { demand: demands, unused }: Pick<ExchangeRequest, 'demand' | 'unused'>,
  within: number,
  sharers: number,
  budget: number,
): RateGrant {
  const limits = buckets.length - 2;
  const amounts = buckets.map(() => 0);
  const reach = buckets.map((bucket, place) => {
    const reserved = shareOfFlow(bucket, within, sharers);
    return Math.max(0, bucket.level) + Math.max(0, reserved - (unused[place] ?? 0));
  });
  const spare = buckets.map((bucket) => Math.floor(Math.max(0, bucket.level) / sharers));
  const isBudgeted = buckets[limits]?.perHour !== 0;
  // Each worker gets a part of the budget, at least one request while any is left.
  const part = Math.max(Math.min(1, budget), Math.floor(budget / sharers));
  const most = isBudgeted ? Math.max(0, part) : Number.POSITIVE_INFINITY;
  const atOnce = buckets.map(ready);
  // Returned reservations are granted first and alone: they are due now, new reservations later.
  const usesRest = demands[0]?.spare === 0 && isOfRest(demands[0], buckets, atOnce);
  const rooms = usesRest ? atOnce : reach;
  let count = 0;
  let short = -1;
  for (const demand of demands) {
    let fitting = demand.count;
    let binding = -1;
    let latest = Number.POSITIVE_INFINITY;
    for (let place = 0; place < buckets.length; place += 1) {
      const cost = costAt(demand, place, limits);
      const bucket = buckets[place] as Bucket;
      if (cost === 0 || bucket.perHour === 0) continue;
      const before = amounts[place] ?? 0;
      const room = ((demand.spare === 1 ? spare : rooms)[place] ?? 0) - before;
      const fits = Math.max(0, Math.floor(room / cost));
      if (fits > fitting) continue;
      // Of limits that let the same number pass, the one is short that opens last: else a learned
      // rate below a configured limit would not seem to bind, and would never grow again.
      const opensIn = flowTime(bucket, before + (fits + 1) * cost - bucket.level);
      if (fits === fitting && opensIn <= latest) continue;
      fitting = fits;
      binding = place;
      latest = opensIn;
    }
    if (fitting === 0 && count === 0 && demand.spare === 0 && !covers(demand, unused, buckets)) {
      fitting = Math.min(1, demand.count);
    }
    if (most - count < fitting) {
      fitting = most - count;
      binding = limits;
    }
    for (let place = 0; place < buckets.length; place += 1) {
      if (buckets[place]?.perHour === 0) continue;
      amounts[place] = (amounts[place] ?? 0) + fitting * costAt(demand, place, limits);
    }
    count += fitting;
    if (fitting < demand.count) {
      if (demand.spare !== 1) short = binding;
      break;
    }
  }
  const from = buckets.map(() => 0);
  const until = buckets.map(() => 0);
  for (let place = 0; place < buckets.length; place += 1) {
    const bucket = buckets[place] as Bucket;
    const amount = amounts[place] ?? 0;
    if (amount === 0) continue;
    const level = usesRest ? (atOnce[place] as number) : bucket.level;
    from[place] = flowTime(bucket, -level);
    until[place] = flowTime(bucket, amount - level);
    if (usesRest) spend(bucket, amount);
    else charge(bucket, amount);
  }
  return { count, amounts, from, until, limit: short };
}

/** Whether one of these requests may go at once, with an amount returned to a bucket in debt. */
function isOfRest(demand: Demand, buckets: readonly Bucket[], atOnce: readonly number[]): boolean {
  let isInDebt = false;
  for (let place = 0; place < buckets.length; place += 1) {
    const { level, perHour } = buckets[place] as Bucket;
    const cost = costAt(demand, place, buckets.length - 2);
    if (cost === 0 || perHour === 0) continue;
    if ((atOnce[place] as number) < cost) return false;
    if (level < 0) isInDebt = true;
  }
  return isInDebt;
}

/** Whether the unused grants of the worker cover the first request. */
function covers(demand: Demand, unused: readonly number[], buckets: readonly Bucket[]): boolean {
  for (let place = 0; place < buckets.length; place += 1) {
    if (buckets[place]?.perHour === 0) continue;
    if ((unused[place] ?? 0) < costAt(demand, place, buckets.length - 2)) return false;
  }
  return true;
}

import type { Told } from './corrections.ts';
import type { DemandMeter } from './demand-meter.ts';
import type { FleetNews, FleetRequest } from './fleet-hooks.ts';
import type { Holdings } from './holdings.ts';
import {
  type Demand,
  type ExchangeRequest,
  type GrantReply,
  MICRO,
  type Plan,
  PROTOCOL,
  type SharedConfig,
  type Shortage,
} from './protocol.ts';

/**
 * Shortages in which a worker gets no slots or bytes. `recovering`: the store has lost its state.
 */
const WITHOUT_SLOTS: ReadonlySet<Shortage> = new Set(['slots', 'bytes', 'recovering']);

/** The data from which a worker builds a call. */
export interface CallFacts {
  readonly worker: string;
  readonly sequence: number;
  /** Requests that were sent so far. */
  readonly sent: number;
  readonly config: SharedConfig;
  /** Whether the store knows the configuration. */
  readonly isConfigTold: boolean;
  /** The last answer. */
  readonly last: GrantReply | undefined;
  readonly holdings: Holdings;
  readonly meter: DemandMeter;
  /** The first waiting request, if it is known. */
  readonly head: FleetRequest | undefined;
  /** How many requests wait, and how many are expected soon; 0 for a worker that leaves. */
  readonly waiting: number;
  readonly ahead: number;
  readonly corrections: Told;
  readonly news: FleetNews;
  readonly isLeaving: boolean;
}

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

/**
 * Builds the request of a call from these facts. Slots and bytes that the worker does not need are
 * returned with it.
 */
export function exchangeRequest(facts: CallFacts): ExchangeRequest {
  const { head, waiting, ahead, meter, last, news } = facts;
  const { slots, bytes, credits } = facts.holdings;
  const unused = credits.unused(placesOf(facts.config));
  const headSlots = waiting > 0 ? (head?.slots ?? 1) : 0;
  const headBytes = waiting > 0 ? (head?.bytes ?? 0) : 0;
  const neededSlots = waiting === 0 ? 0 : headSlots + (waiting - 1) * meter.slots;
  const neededBytes = waiting === 0 ? 0 : headBytes + (waiting - 1) * meter.bytes;
  // If other workers wait for slots, none is kept for requests expected soon.
  const aheadSlots = last?.contested === 1 ? 0 : ahead * meter.slots;
  const heldSlots = slots.keep(neededSlots + aheadSlots);
  // The store lets a request above the whole budget go only while no bytes are held.
  const isAboveAll = headBytes > facts.config.bytes;
  const heldBytes = bytes.keep(isAboveAll ? 0 : neededBytes + ahead * meter.bytes);
  const wantedSlots = Math.max(0, neededSlots - slots.free);
  const wantedBytes = Math.max(0, neededBytes + ahead * meter.bytes - bytes.free);
  return {
    protocol: PROTOCOL,
    worker: facts.worker,
    sent: facts.sent,
    sequence: facts.sequence,
    run: last?.run ?? 0,
    workers: last?.workers ?? 0,
    epoch: last?.epoch ?? 0,
    ...(facts.isConfigTold ? {} : { config: facts.config }),
    slots: heldSlots,
    alone: 0,
    wantedSlots,
    headSlots: Math.max(0, headSlots - slots.free),
    spareSlots: Math.max(0, neededSlots + aheadSlots - slots.free - wantedSlots),
    bytes: heldBytes,
    wantedBytes,
    headBytes: Math.max(0, headBytes - bytes.free),
    unused,
    settled: facts.corrections.settled,
    returned: facts.corrections.returned,
    demand: facts.isLeaving ? [] : demandOf(facts, unused),
    closed: news.closed,
    throttled: news.throttled,
    broken: news.broken,
    ...news.lesson,
    leaves: facts.isLeaving ? 1 : 0,
  };
}

/** The costs of the requests that wait, and of those expected before the next call. */
function demandOf(facts: CallFacts, unused: readonly number[]): Demand[] {
  const { waiting, ahead, meter, head, last, holdings } = facts;
  if (waiting + ahead === 0) return [];
  const headCosts = head && costsOf(head, last?.plan);
  const costs = headCosts === undefined || meter.costs.length > 0 ? meter.costs : headCosts;
  let covered = Number.POSITIVE_INFINITY;
  for (let place = 0; place < costs.length; place += 1) {
    const cost = costs[place] as number;
    if (cost > 0) covered = Math.min(covered, Math.floor((unused[place] ?? 0) / cost));
  }
  if (covered === Number.POSITIVE_INFINITY) {
    const isFree = headCosts === undefined || headCosts.every((cost) => cost === 0);
    if (isFree) return [];
    covered = 0;
  }
  const list: Demand[] = [];
  const places = facts.config.limits.length;
  // Requests that wait for slots need no rate grant yet.
  const isHeldBack = WITHOUT_SLOTS.has(last?.why ?? '');
  const sendable = isHeldBack ? Math.min(waiting, Math.max(1, holdings.slots.held)) : waiting;
  let needed = Math.max(0, sendable - covered);
  if (needed > 0 && headCosts !== undefined && !covers(headCosts, unused)) {
    list.push(oneDemand(headCosts, places, head?.tokens ?? 0, 1, 0));
    needed -= 1;
  }
  if (needed > 0) list.push(oneDemand(costs, places, meter.tokens, needed, 0));
  const spare = Math.max(0, waiting + ahead - Math.max(covered, waiting));
  if (spare > 0) list.push(oneDemand(costs, places, meter.tokens, spare, 1));
  return list;
}

function covers(costs: readonly number[], unused: readonly number[]): boolean {
  return costs.every((cost, place) => cost <= (unused[place] ?? 0));
}

function oneDemand(
  costs: readonly number[],
  places: number,
  tokens: number,
  count: number,
  spare: 0 | 1,
): Demand {
  const own = Array.from({ length: places }, (_, place) => costs[place] ?? 0);
  return { count, costs: own, tokens: costs[places + 1] ?? tokens, spare };
}

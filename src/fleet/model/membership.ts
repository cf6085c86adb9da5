import { Heap, type Placed } from '../../util/collections.ts';
import { type ExchangeRequest, MICRO } from '../protocol.ts';
import { type Bucket, resize } from './bucket.ts';
import type { FleetState, WorkerRecord } from './fleet-state.ts';
import { hold } from './pool.ts';

interface Entry extends Placed {
  readonly name: string;
  at: number;
}

/** By time; entries of the same time by name, as in a sorted set of Redis. */
function isEarlier(one: Entry, other: Entry): boolean {
  return one.at === other.at ? one.name < other.name : one.at < other.at;
}

/** Names with a time each, as a sorted set: finds the earliest first. A change costs O(log n). */
export class Expiry {
  private readonly entries = new Map<string, Entry>();
  private heap = new Heap<Entry>(0, isEarlier);

  get size(): number {
    return this.entries.size;
  }

  has(name: string): boolean {
    return this.entries.has(name);
  }

  set(name: string, at: number): void {
    const known = this.entries.get(name);
    if (known !== undefined) {
      known.at = at;
      this.heap.move(known);
      return;
    }
    const entry = { name, at, places: [] };
    this.entries.set(name, entry);
    this.heap.add(entry);
  }

  delete(name: string): void {
    const entry = this.entries.get(name);
    if (entry !== undefined) this.heap.delete(entry);
    this.entries.delete(name);
  }

  clear(): void {
    this.entries.clear();
    this.heap = new Heap(0, isEarlier);
  }

  /** Takes out all names whose time is not after `now`. */
  due(now: number): string[] {
    const found: string[] = [];
    for (let { top } = this.heap; top !== undefined && top.at <= now; top = this.heap.top) {
      this.delete(top.name);
      found.push(top.name);
    }
    return found;
  }
}

/** How long the store lends no slots after it was away or lost its data, in microseconds. */
export const RECOVERY = 500_000;
/** `backBy` of a worker whose record was lost and that does not count as back yet. */
const FORGOTTEN = -1;

/**
 * Registers a worker that comes back to a store that was away. A worker that went on alone holds
 * its share, not what the store lent it. So the store lends nothing until the workers have
 * reported, and keeps the shares of missing workers free for the time of a lease. If the store was
 * away for less than half a lease, no worker holds more than it was lent until the other half ends.
 *
 * The first call after a loss of data may be older than the loss: its client kept it. So it counts
 * only if the worker states that it goes on alone; otherwise the next call does.
 * @param hasForgotten whether the store has lost the record of this worker
 */
export function comesBack(
  state: FleetState,
  record: WorkerRecord,
  { alone, run, workers }: ExchangeRequest,
  hasForgotten: boolean,
): void {
  const { awaitedUntil, now } = state;
  // What was refilled meanwhile, the worker has used alone.
  if (alone === 1) for (const bucket of state.buckets) bucket.level = Math.min(bucket.level, 0);
  const isAwaited = alone === 1 && now < awaitedUntil;
  if (isAwaited && state.roomUntil !== awaitedUntil) {
    state.roomUntil = awaitedUntil;
    state.recoveringUntil = now + RECOVERY;
    state.expected = 0;
    state.back = 0;
  }
  if (hasForgotten) {
    record.backBy = FORGOTTEN;
    state.expected = Math.max(state.expected, workers);
  }
  const isKnownAgain = record.backBy === FORGOTTEN && (alone === 1 || run === state.run);
  if (!(isAwaited || isKnownAgain) || record.backBy === state.roomUntil) return;
  record.backBy = state.roomUntil;
  state.back += 1;
  state.expected = Math.max(state.expected, workers);
}

/** A worker repeats a call that was already carried out, and reports that it now holds more. */
export function tellsMore(
  state: FleetState,
  record: WorkerRecord,
  { slots, bytes }: ExchangeRequest,
): void {
  hold(state.slots, record.slots, slots);
  hold(state.bytes, record.bytes, bytes);
}

/** The size of a pool without the shares of missing workers, which may still use these. */
export function lendable({ expected, back, roomUntil, now }: FleetState, size: number): number {
  const missing = now < roomUntil ? Math.max(0, expected - back) : 0;
  return missing === 0 ? size : size - Math.floor((size * missing) / expected);
}

/** The most reports that are kept for the leader; older ones are dropped. */
const MOST_REPORTS = 2_000;

/** Keeps the report of a worker for the leader. */
export function report(state: FleetState, request: ExchangeRequest, record: WorkerRecord): void {
  const unused = request.unused[state.buckets.length - 2] ?? 0;
  state.out += unused - record.out;
  record.out = unused;
  if (request.report === undefined) return;
  state.reports.push([state.now, request.worker, request.report]);
  state.pending += request.sends;
  bound(state);
}

/** A worker is gone: tells the leader that it will report no more results. */
export function reportGone(state: FleetState, worker: string): void {
  if (state.terms === 0) return;
  state.reports.push([state.now, worker, 0]);
  bound(state);
}

function bound(state: FleetState): void {
  const excess = state.reports.length - MOST_REPORTS;
  if (excess <= 0) return;
  state.reports.splice(0, excess);
  state.dropped += excess;
}

/**
 * Decides which worker runs the learning controller. A plan counts only in its own term: if a
 * worker was stopped and has lost the lead meanwhile, its plan has no effect.
 * @returns whether this worker leads now
 */
export function lead(state: FleetState, request: ExchangeRequest): boolean {
  const { worker } = request;
  const ttl = state.config?.ttl ?? 0;
  if (request.leads === 0) {
    if (state.leader === worker) resign(state);
    // Workers that learn ask for the lead with each call: so none of them is left.
    if (state.plan !== undefined && state.alive - state.leadsUntil >= ttl) forgetPlan(state);
    return false;
  }
  const isFree = state.leader === '' || state.leadsUntil <= state.alive;
  if (isFree && state.leader !== worker) {
    state.leader = worker;
    state.terms += 1;
  }
  if (state.leader !== worker) return false;
  state.leadsUntil = state.alive + ttl;
  if (request.term === state.terms) plan(state, request);
  return true;
}

/** Ends the lead of the leader; another worker may take it at once. */
export function resign(state: FleetState): void {
  state.leadsUntil = Math.min(state.leadsUntil, state.alive);
}

/** Drops a plan that no worker renews: its budget would soon be used up and block all requests. */
function forgetPlan(state: FleetState): void {
  state.plan = undefined;
  state.planClosedUntil = 0;
  state.learned = undefined;
  for (const bucket of state.buckets.slice(-2)) resize(bucket, 0, 0);
}

function plan(state: FleetState, request: ExchangeRequest): void {
  const heard = Math.max(0, Math.min(request.heard - state.dropped, state.reports.length));
  if (request.learned !== undefined) {
    state.reports.splice(0, heard);
    state.dropped += heard;
    state.learned = request.learned;
  }
  if (request.plan === undefined) return;
  state.plan = request.plan;
  state.planClosedUntil = state.now + state.plan.closed;
  // Unused grants and attempts in reports that the plan does not contain use up the budget, too.
  state.budget = state.plan.budget - Math.floor(state.out / MICRO) - state.pending;
  const [requests, tokens] = state.buckets.slice(-2) as [Bucket, Bucket];
  resize(requests, state.plan.requestsCapacity, state.plan.requestsPerHour);
  resize(tokens, state.plan.tokensCapacity, state.plan.tokensPerHour);
}

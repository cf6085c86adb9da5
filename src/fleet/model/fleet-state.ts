import type {
  Data,
  ExchangeReply,
  ExchangeRequest,
  GrantReply,
  Plan,
  ReportEntry,
  SharedConfig,
} from '../protocol.ts';
import { type Bucket, flowTime } from './bucket.ts';
import { type Holding, noHolding, type Pool } from './pool.ts';

/** What is kept of one worker. */
export interface WorkerRecord {
  sequence: number;
  /** Requests that it has sent. */
  sent: number;
  reply: ExchangeReply | undefined;
  readonly slots: Holding;
  readonly bytes: Holding;
  /** What was granted to it at the learned rate of requests, and it has not told that it was used. */
  out: number;
  /** The end of the last recovery period in which this worker came back; 0: never. */
  backBy: number;
}

/** Of a worker that calls for the first time. */
export function newRecord(): WorkerRecord {
  return {
    sequence: 0,
    sent: 0,
    reply: undefined,
    slots: noHolding(),
    bytes: noHolding(),
    out: 0,
    backBy: 0,
  };
}

/** What all workers of a key share, but for the workers themselves. */
export interface FleetState {
  protocol: number;
  /** The incarnation: the time of its first call, in ms. */
  run: number;
  /** The store's clock at the last call, in microseconds. */
  readAt: number;
  /** The time of the same clock at which the whole state expires. */
  expiresAt: number;
  /** The time that has passed; a clock that steps back stands still for one call. */
  now: number;
  /**
   * The same for leases of workers, where one call counts for half a `ttl` at the most: a clock that
   * steps ahead, and a store that was stopped, end no lease of a worker that goes on calling.
   */
  alive: number;
  config: SharedConfig | undefined;
  epoch: number;
  /** Of each limit; the last two: learned rates of requests and tokens. */
  buckets: Bucket[];
  readonly slots: Pool;
  readonly bytes: Pool;
  closedUntil: number;
  throttledUntil: number;
  brokenUntil: number;
  backoffs: number;
  /** Until then no slots are lent: the workers first tell what they hold. */
  recoveringUntil: number;
  /** Nobody had called for a lease; workers that are alone since then are awaited until this time. */
  awaitedUntil: number;
  /** Of the workers that the fleet had before: how many there were, and how many have called. */
  expected: number;
  back: number;
  /** Until then the shares of the others are kept free: they may use them without the store. */
  roomUntil: number;
  leader: string;
  leadsUntil: number;
  terms: number;
  plan: Plan | undefined;
  /** Nothing goes until then, because of the plan. */
  planClosedUntil: number;
  /** So many more requests are granted before the next plan. */
  budget: number;
  /** The sum of `out` over all workers. */
  out: number;
  /** Attempts that are told of in reports which the leader has not had yet. */
  pending: number;
  /** Reports that the leader's state does not contain yet, and how many came before them. */
  reports: ReportEntry[];
  dropped: number;
  learned: Data | undefined;
}

export function newFleetState(): FleetState {
  return {
    protocol: 0,
    run: 0,
    readAt: 0,
    expiresAt: Number.POSITIVE_INFINITY,
    now: 0,
    alive: 0,
    config: undefined,
    epoch: 0,
    buckets: [],
    slots: { held: 0, claimed: 0, sought: 0 },
    bytes: { held: 0, claimed: 0, sought: 0 },
    closedUntil: 0,
    throttledUntil: 0,
    brokenUntil: 0,
    backoffs: 0,
    recoveringUntil: 0,
    awaitedUntil: 0,
    expected: 0,
    back: 0,
    roomUntil: 0,
    leader: '',
    leadsUntil: 0,
    terms: 0,
    plan: undefined,
    planClosedUntil: 0,
    budget: 0,
    out: 0,
    pending: 0,
    reports: [],
    dropped: 0,
    learned: undefined,
  };
}

/** For how long nothing goes, or throttled mode lasts, by the cause; 0: it is over. */
export type Closures = Pick<GrantReply, 'closed' | 'held' | 'throttled' | 'broken'>;

/** A worker was told to send nothing, or has stopped: that counts for all. */
export function close(state: FleetState, { closed, throttled, broken }: ExchangeRequest): void {
  if (closed > 0 && state.now + closed > state.closedUntil) {
    state.closedUntil = state.now + closed;
    state.backoffs += 1;
  }
  state.throttledUntil = Math.max(state.throttledUntil, state.now + throttled);
  if (broken > 0) state.brokenUntil = Math.max(state.brokenUntil, state.now + broken);
}

export function closuresOf(state: FleetState): Closures {
  const { now } = state;
  return {
    closed: Math.max(0, state.closedUntil - now),
    held: Math.max(0, state.planClosedUntil - now),
    throttled: Math.max(0, state.throttledUntil - now),
    broken: Math.max(0, state.brokenUntil - now),
  };
}

/** How long a state is kept that no worker has configured, in microseconds: a minute. */
const UNCONFIGURED = 60_000_000;
/** No wait keeps a state for longer: 366 days. */
const LONGEST_WAIT = 366 * 86_400_000_000;

/**
 * How long a state is kept when nobody calls any more: the configured time from when nothing of it holds
 * anyone back. A state that begins anew knows of no backoff and of no debt.
 * @returns microseconds
 */
export function keepsFor(state: FleetState): number {
  const { config, now } = state;
  if (config === undefined) return UNCONFIGURED;
  let wait = Math.max(
    0,
    state.closedUntil - now,
    state.throttledUntil - now,
    state.brokenUntil - now,
  );
  for (const bucket of state.buckets.slice(0, -2)) {
    if (bucket.level < 0) wait = Math.max(wait, flowTime(bucket, -bucket.level));
  }
  return config.keep + Math.min(wait, LONGEST_WAIT);
}

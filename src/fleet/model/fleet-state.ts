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

/** The record of one worker. */
export interface WorkerRecord {
  sequence: number;
  /** Requests that it has sent. */
  sent: number;
  reply: ExchangeReply | undefined;
  readonly slots: Holding;
  readonly bytes: Holding;
  /** Its grants of the learned rate of requests that it has not reported as used, in millionths. */
  out: number;
  /** Its granted amounts that it has not reported as used, by bucket, and the epoch of these. */
  unused: readonly number[];
  epoch: number;
  /**
   * The end of the last recovery period in which this worker came back; 0: never; -1: its record was
   * lost, and it does not count as back yet.
   */
  backBy: number;
}

/** The record of a worker that calls for the first time. */
export function newRecord(): WorkerRecord {
  return {
    sequence: 0,
    sent: 0,
    reply: undefined,
    slots: noHolding(),
    bytes: noHolding(),
    out: 0,
    unused: [],
    epoch: 0,
    backBy: 0,
  };
}

/** The state of a key, without the records of its workers. */
export interface FleetState {
  protocol: number;
  /** The incarnation: the time of its first call, in ms. */
  run: number;
  /** The store's clock at the last call, in microseconds. */
  readAt: number;
  /** When the whole state expires, by the same clock. */
  expiresAt: number;
  /** The time that has passed. If the store's clock steps back, it stands still for one call. */
  now: number;
  /**
   * The time for leases. It advances by half a `ttl` at most between two calls: if the clock steps
   * ahead or the store was stopped, workers that go on calling keep their leases.
   */
  alive: number;
  config: SharedConfig | undefined;
  epoch: number;
  /** What the slowest calls of all workers take, at the time of the last call. */
  slowest: number;
  slowestAt: number;
  /** One bucket for each limit; the last two: the learned rates of requests and tokens. */
  buckets: Bucket[];
  readonly slots: Pool;
  readonly bytes: Pool;
  closedUntil: number;
  throttledUntil: number;
  brokenUntil: number;
  backoffs: number;
  /** Until this time no slots or bytes are lent: the workers first report their holdings. */
  recoveringUntil: number;
  /** Set after half a `ttl` without any call: until then workers that went on alone may return. */
  awaitedUntil: number;
  /** The number of workers before the loss, and the number of those that have called since. */
  expected: number;
  back: number;
  /** Until then the shares of missing workers stay free: they may use these without the store. */
  roomUntil: number;
  leader: string;
  leadsUntil: number;
  terms: number;
  plan: Plan | undefined;
  /** The plan lets no request be sent before this time. */
  planClosedUntil: number;
  /** The number of requests that may still be granted before the next plan. */
  budget: number;
  /** The sum of `out` over all workers. */
  out: number;
  /** Attempts in reports that the leader has not received yet. */
  pending: number;
  /** Reports that the stored state does not contain yet, and the number of dropped earlier ones. */
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
    slowest: 0,
    slowestAt: 0,
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

/** How long no request may be sent, or throttled mode lasts, by cause; 0: it is over. */
export type Closures = Pick<GrantReply, 'closed' | 'held' | 'throttled' | 'broken'>;

/** Applies the backoff, throttled mode or open circuit that one worker reports to all workers. */
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
    held: Math.max(0, state.planClosedUntil - now, unplannedFor(state)),
    throttled: Math.max(0, state.throttledUntil - now),
    broken: Math.max(0, state.brokenUntil - now),
  };
}

/** A leader that has not called for so many ticks before its first plan may be gone. */
const SILENT_TICKS = 2;

/**
 * The time until another worker may lead, if the first leader seems to be gone before it has made a
 * plan, and many requests were sent. Without a plan each rejection would let the next one pass.
 */
function unplannedFor({ plan, pending, leadsUntil, alive, config }: FleetState): number {
  const { startSlots, ttl, tick } = config as SharedConfig;
  const leadsFor = leadsUntil - alive;
  const isSilent = leadsFor <= ttl - SILENT_TICKS * tick;
  const isMany = startSlots > 0 && pending >= 2 * startSlots;
  return plan === undefined && isMany && isSilent ? leadsFor : 0;
}

/** How long a state without a configuration is kept, in microseconds: a minute. */
const UNCONFIGURED = 60_000_000;
/** The longest wait that prolongs the life of a state, in microseconds: 366 days. */
const LONGEST_WAIT = 366 * 86_400_000_000;

/**
 * How long a state is kept when no worker calls any more: the configured time after the last
 * backoff and the last debt are over. A new state would know neither.
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

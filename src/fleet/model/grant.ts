import {
  type Data,
  type ExchangeRequest,
  type GrantReply,
  MICRO,
  type SharedConfig,
  type Shortage,
} from '../protocol.ts';
import { type Closures, closuresOf, type FleetState, type WorkerRecord } from './fleet-state.ts';
import { lendable } from './membership.ts';
import { lend } from './pool.ts';
import { grantRates, type RateGrant, reservesFor } from './rate-grants.ts';

/** The worker that calls, and the fleet. */
interface Caller {
  /** Whether it knows the limits, and does not leave. */
  readonly mayGrant: boolean;
  /** Whether the store did not know it. */
  readonly isNew: boolean;
  readonly leads: boolean;
  /** The number of workers, and of those that send or have waiting requests. */
  readonly workers: number;
  readonly active: number;
}

/** Lends a worker slots and bytes, and grants it amounts of the rate limits. @returns the reply */
export function grant(
  state: FleetState,
  request: ExchangeRequest,
  record: WorkerRecord,
  { mayGrant, isNew, leads, workers, active }: Caller,
): GrantReply {
  const config = state.config as SharedConfig;
  const sharers = Math.max(1, active);
  const closures = closuresOf(state);
  const isRecovering = state.recoveringUntil > state.now;
  const { closed, held, broken } = closures;
  const isClosed = !mayGrant || closed > 0 || held > 0 || broken > 0;
  const most = state.plan === undefined ? config.startSlots : state.plan.slots;
  const size = lendable(state, most > 0 ? Math.min(most, config.slots) : config.slots);
  const slots = lend(
    state.slots,
    record.slots,
    {
      held: request.slots,
      wanted: request.wantedSlots,
      head: request.headSlots,
      spare: request.spareSlots,
    },
    size,
    sharers,
    false,
    isClosed || isRecovering,
  );
  // Without slots for its first request, a worker would hold bytes for it that others wait for.
  const headBytes = slots.held - request.slots < request.headSlots ? 0 : request.headBytes;
  const bytes = lend(
    state.bytes,
    record.bytes,
    { held: request.bytes, wanted: request.wantedBytes, head: headBytes, spare: 0 },
    lendable(state, config.bytes),
    sharers,
    true,
    isClosed || isRecovering,
  );
  const short = slots.isShort ? 'slots' : 'bytes';
  const pool = slots.isShort || bytes.isShort ? (isRecovering ? 'recovering' : short) : '';
  // Without slots and bytes for its first request a worker would return a grant unused. With the
  // bytes that this request lacked it is sent, even if others wait for its slots.
  const isComplete = headBytes > 0 && bytes.held - request.bytes >= headBytes;
  const lacks =
    request.keeps !== 1 &&
    !isComplete &&
    (slots.kept < Math.max(1, request.headSlots) || bytes.kept < request.headBytes);
  const within = reservesFor(state);
  const rates: RateGrant =
    isClosed || lacks
      ? nothing(state)
      : grantRates(state.buckets, request, within, sharers, state.budget);
  const granted = rates.amounts[state.buckets.length - 2] ?? 0;
  state.budget -= Math.floor(granted / MICRO);
  state.out += granted;
  record.out += granted;
  if (leads) state.pending = 0;
  const isNewLeader = leads && request.term !== state.terms && state.learned !== undefined;
  return {
    status: 'ok',
    sequence: request.sequence,
    now: state.now,
    run: state.run,
    epoch: state.epoch,
    ...(request.epoch !== state.epoch || request.run !== state.run ? { config } : {}),
    count: rates.count,
    amounts: rates.amounts,
    from: rates.from,
    until: rates.until,
    slots: slots.held,
    bytes: bytes.held,
    keptSlots: slots.kept,
    keptBytes: bytes.kept,
    contested: slots.isContested ? 1 : 0,
    slowest: state.slowest,
    why: shortageOf(closures, pool, rates.limit, config.limits.length),
    limit: rates.limit,
    ...closures,
    backoffs: state.backoffs,
    workers,
    sharers: active,
    lost: isNew && request.sequence > 1 && request.run === state.run ? 1 : 0,
    leads: leads ? 1 : 0,
    terms: state.terms,
    lastReport: state.dropped + state.reports.length,
    ...(state.plan === undefined ? {} : { plan: state.plan }),
    ...(leads && state.reports.length > 0 ? { reports: [...state.reports] } : {}),
    ...(isNewLeader ? { learned: state.learned as Data } : {}),
  };
}

function nothing({ buckets }: FleetState): RateGrant {
  const none = buckets.map(() => 0);
  return { count: 0, amounts: none, from: none, until: none, limit: -1 };
}

/**
 * The reason why a worker was granted less than it asked for.
 * @param pool the shortage of slots or bytes; empty: none
 * @param limit the index of the limit that was short; -1: none was
 * @param limits the number of configured limits; indexes from there on are learned limits
 */
function shortageOf(
  { closed, held, broken }: Closures,
  pool: Shortage,
  limit: number,
  limits: number,
): Shortage {
  if (broken > 0) return 'broken';
  if (closed > 0) return 'closed';
  if (held > 0) return 'learned';
  if (pool !== '') return pool;
  if (limit < 0) return '';
  return limit < limits ? 'limit' : 'learned';
}

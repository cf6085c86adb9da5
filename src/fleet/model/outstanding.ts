import type { Bucket } from './bucket.ts';
import type { FleetState, WorkerRecord } from './fleet-state.ts';

/** A bucket forgets large costs and refunds over about so many calls. */
const CALLS = 64;

/** A worker reports the granted amounts that it has not used. They belong to the present limits. */
export function reportUnused(
  state: FleetState,
  record: WorkerRecord,
  unused: readonly number[],
): void {
  const before = known(state, record);
  state.buckets.forEach((bucket, place) => {
    bucket.out += (unused[place] ?? 0) - (before[place] ?? 0);
  });
  record.unused = [...unused];
  record.epoch = state.epoch;
}

/** A worker that knows the present limits was granted these amounts. */
export function addUnused(
  state: FleetState,
  record: WorkerRecord,
  amounts: readonly number[],
): void {
  const before = known(state, record);
  reportUnused(
    state,
    record,
    amounts.map((amount, place) => amount + (before[place] ?? 0)),
  );
}

/**
 * A worker has made no call for longer than it may use its grants, or is gone: they count no more.
 * Else those of a killed worker would slow the others down until its lease ends.
 */
export function lapse(state: FleetState, record: WorkerRecord): void {
  reportUnused(state, record, []);
  state.out -= record.out;
  record.out = 0;
}

/** The amounts that a worker has not reported as used. Those of earlier limits no longer count. */
function known(state: FleetState, record: WorkerRecord): readonly number[] {
  return record.epoch === state.epoch ? record.unused : [];
}

/**
 * Lets a bucket hold no more than its capacity, with the amounts that workers have not used yet.
 * Those are sent later than this bucket requires if another limit holds them back, or if slots are
 * missing. The bucket of the API is full by then: a refill on top of them would exceed its limit.
 * The bucket may hold more for a large request, and for refunds.
 * @param next the cost of the next request
 * @param refund the amount that comes back with this call
 * @param ahead the amount of the unused ones that is not late
 */
export function bound(bucket: Bucket, next: number, refund: number, ahead: number): void {
  const { capacity, large, out, rest } = bucket;
  bucket.large = Math.max(next, large - Math.ceil(large / CALLS)) + refund;
  const late = Math.max(0, out - ahead);
  bucket.level = Math.min(bucket.level, Math.max(capacity, bucket.large) - late - rest);
}

import type { ExchangeRequest } from '../protocol.ts';
import type { FleetState, WorkerRecord } from './fleet-state.ts';
import { hold } from './pool.ts';

/** For so long after it was away, or forgot everything, the store lends no slots, in microseconds. */
export const RECOVERY = 500_000;

/**
 * Workers come back to a store that was away. Those that went on alone hold what is their share, not what
 * the store lent them: it first lets them tell, and keeps the shares of the others for as long as a
 * lease. Where it was away for less than a lease, none has more than it was lent.
 * @param hasForgotten whether the store knows nothing any more of what this worker held
 */
export function comesBack(
  state: FleetState,
  record: WorkerRecord,
  { alone, workers }: ExchangeRequest,
  hasForgotten: boolean,
): void {
  const { awaitedUntil, now } = state;
  const isAwaited = alone === 1 && now < awaitedUntil;
  if (isAwaited && state.roomUntil !== awaitedUntil) {
    state.roomUntil = awaitedUntil;
    state.recoveringUntil = now + RECOVERY;
    state.expected = 0;
    state.back = 0;
  }
  if (!(isAwaited || hasForgotten) || record.backBy === state.roomUntil) return;
  record.backBy = state.roomUntil;
  state.back += 1;
  state.expected = Math.max(state.expected, workers);
}

/** A call that was carried out already is repeated by a worker that has more by now. */
export function tellsMore(
  state: FleetState,
  record: WorkerRecord,
  { slots, bytes }: ExchangeRequest,
): void {
  hold(state.slots, record.slots, slots);
  hold(state.bytes, record.bytes, bytes);
}

/** A pool without the shares of workers that may use them, and have not called since the store was away. */
export function lendable({ expected, back, roomUntil, now }: FleetState, size: number): number {
  const missing = now < roomUntil ? Math.max(0, expected - back) : 0;
  return missing === 0 ? size : size - Math.floor((size * missing) / expected);
}

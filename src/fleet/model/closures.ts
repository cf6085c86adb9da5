import type { ExchangeRequest, GrantReply } from '../protocol.ts';
import type { FleetState } from './fleet-state.ts';

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

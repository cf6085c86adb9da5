import { flowTime } from './bucket.ts';
import type { FleetState } from './fleet-state.ts';

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

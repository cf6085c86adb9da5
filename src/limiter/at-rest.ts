import { areAtRest } from '../policies/policies.ts';
import type { LimiterRuntime } from './limiter-runtime.ts';
import { type CountedBefore, progressOf } from './request-counters.ts';
import type { LimiterSnapshot } from './snapshot.ts';

/** Limits by key are mostly of a few kinds, and limiters of a kind are equal when they are at rest. */
const MOST_KINDS = 16;

/** The last state of a limiter that was given up. */
export interface RestingState extends CountedBefore {
  /** Shared by equal ones. */
  readonly atRest: LimiterSnapshot;
}

/** The last states of limiters that were given up: small, since limiters of a kind share most of theirs. */
export class RestingStates {
  /** By their text. */
  readonly #shared = new Map<string, LimiterSnapshot>();

  /** What is kept of a limiter that is given up. */
  keep(
    { ended, dropped, progress: _, fleet: __, ...rest }: LimiterSnapshot,
    now: number,
  ): RestingState {
    // A limiter that is given up is no worker of its fleet any more.
    const state = { ...rest, fleet: undefined };
    const counts = { ended, dropped };
    const text = JSON.stringify(state);
    const known = this.#shared.get(text);
    if (known !== undefined) return { ...counts, atRest: known };
    const atRest = { ...state, ...counts, progress: progressOf(ended, now) };
    if (this.#shared.size < MOST_KINDS) this.#shared.set(text, atRest);
    return { ...counts, atRest };
  }
}

/** The snapshot of a limiter that was given up, as it would be now. */
export function snapshotOf({ atRest, ended, dropped }: RestingState, now: number): LimiterSnapshot {
  return { ...atRest, ended, dropped, progress: progressOf(ended, now) };
}

/** Whether a new limiter would do the same as this one. */
export function isAtRest({ gate, counters, lifecycle, clock }: LimiterRuntime): boolean {
  if (!counters.isEmpty || lifecycle.isPaused || gate.feedback.mode !== 'normal') return false;
  return areAtRest(gate.policies, clock.now());
}

/** The same, and it is not watched until a known total has ended. */
export function mayBeGivenUp(limiter: LimiterRuntime): boolean {
  const { counters, gate } = limiter;
  return counters.measured === undefined && gate.retry.isAtRest && isAtRest(limiter);
}

import type { Instrumentation } from '../model/instrumentation.ts';
import type { LimiterEvent } from '../model/limiter-event.ts';
import { areAtRest } from '../policies/policies.ts';
import { show } from '../util/check.ts';
import type { Clock } from '../util/clock.ts';
import type { Timeouts } from '../util/timers.ts';
import { withoutUndefined } from '../util/without-undefined.ts';
import { changedOptions, joinedChanges, removeLimits } from './changed-options.ts';
import type { Changes } from './changes.ts';
import { checkKeyOptions, type LimiterGroupOptions } from './group-options.ts';
import type { GroupStore } from './group-store.ts';
import { Limiter } from './limiter.ts';
import type { LimiterRuntime } from './limiter-runtime.ts';
import { type CountedBefore, progressOf } from './request-counters.ts';
import type { SharedLimits } from './shared-limits.ts';
import type { LimiterSnapshot } from './snapshot.ts';

/**
 * The number of different resting states that are kept: limits by key are mostly of a few kinds,
 * and limiters of a kind are equal at rest.
 */
const MOST_KINDS = 16;

/** The last state of a limiter that was released. */
export interface RestingState extends CountedBefore {
  /** The snapshot at rest, which equal limiters share. */
  readonly atRest: LimiterSnapshot;
}

/**
 * The last states of released limiters. They are small, since limiters of a kind share most of
 * their state.
 */
export class RestingStates {
  /** The shared snapshots, by their text. */
  readonly #shared = new Map<string, LimiterSnapshot>();

  /** The state to keep of a limiter that is released. */
  keep(
    { ended, dropped, progress: _, fleet: __, ...rest }: LimiterSnapshot,
    now: number,
  ): RestingState {
    // A released limiter is no longer a worker of its fleet.
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

/** The snapshot of a released limiter, as it would be now. */
export function snapshotOf({ atRest, ended, dropped }: RestingState, now: number): LimiterSnapshot {
  return { ...atRest, ended, dropped, progress: progressOf(ended, now) };
}

/** Whether a new limiter would do the same as this one. */
export function isAtRest({ gate, counters, lifecycle, clock }: LimiterRuntime): boolean {
  if (!counters.isEmpty || lifecycle.isPaused || gate.feedback.mode !== 'normal') return false;
  return areAtRest(gate.policies, clock.now());
}

/**
 * Whether the limiter can be released: it is at rest, its retry budget is full, and it has no
 * `total` to report progress for.
 */
export function mayBeGivenUp(limiter: LimiterRuntime): boolean {
  const { counters, gate } = limiter;
  return counters.measured === undefined && gate.retry.isAtRest && isAtRest(limiter);
}

/** The parts of a group that the limiters of all its keys use. */
interface GroupParts {
  readonly clock: Clock;
  /** The instrumentation of the group: it makes the metrics and spans of all keys. */
  readonly instrumentation: Instrumentation | undefined;
  readonly store: GroupStore | undefined;
  readonly isHeard: () => boolean;
  readonly emit: (event: LimiterEvent, key: string) => void;
}

/** Makes the limiters of the keys of a group. */
export class KeyLimiters {
  private readonly options: LimiterGroupOptions;
  private readonly parts: GroupParts;
  private readonly changes: Changes;
  /**
   * The attempt timeouts of the last limiter made. Keys with an equal `attemptTimeoutMs` share it.
   */
  private timeouts: Timeouts | undefined = undefined;

  /** @param changes of the options that `each` gives */
  constructor(options: LimiterGroupOptions, parts: GroupParts, changes: Changes = {}) {
    this.options = options;
    this.parts = parts;
    this.changes = changes;
  }

  /** Whether the limits of keys may differ. */
  get isByKey(): boolean {
    return typeof this.options.each === 'function';
  }

  /** The same, with further changes. */
  changed(changes: Changes): KeyLimiters {
    return new KeyLimiters(this.options, this.parts, joinedChanges(this.changes, changes));
  }

  /**
   * @param before the counts of an earlier limiter of the key
   * @throws RangeError or TypeError that names a wrong option of the key, as `each` does
   */
  open(key: string, before: CountedBefore | undefined, shared: SharedLimits | undefined): Limiter {
    const { each = {}, classify, random, name } = this.options;
    const { clock, instrumentation, store, isHeard, emit } = this.parts;
    const isByKey = typeof each === 'function';
    const given = isByKey ? each(key) : each;
    checkKeyOptions(isByKey ? `each(${show(key)})` : 'each', given, clock);
    const limits = changedOptions(given, this.changes);
    const keyStore = store?.ofKey(key, limits);
    const options = {
      ...(classify && { classify }),
      ...(instrumentation && { instrumentation }),
      ...(random && { random }),
      ...(name !== undefined && { name }),
      clock,
      ...withoutUndefined(limits),
      ...(keyStore && { shared: keyStore }),
      telemetry: false,
    } as const;
    const limiter = new Limiter(options, {
      key,
      before,
      shared,
      peers: store,
      timeouts: this.timeouts,
      emit: (event) => emit(event, key),
      isHeard,
    });
    this.timeouts = limiter.inside.gate.timeouts;
    removeLimits(limiter.inside, this.changes);
    return limiter;
  }
}

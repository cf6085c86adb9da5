import { TooManyKeysError } from '../model/errors.ts';
import { checkInteger, checkNumber } from '../util/check.ts';
import type { Clock } from '../util/clock.ts';
import { ResettableTimer } from '../util/timers.ts';
import {
  isAtRest,
  mayBeGivenUp,
  type RestingState,
  RestingStates,
  snapshotOf,
} from './key-limiters.ts';
import type { Limiter } from './limiter.ts';
import type { CountedBefore } from './request-counters.ts';
import type { LimiterSnapshot } from './snapshot.ts';

/** The default of `idleMs`. */
const DEFAULT_IDLE_MS = 60_000;
/** Bounds the memory for keys that come from outside, such as the names of tenants. */
const DEFAULT_MAX_KEYS = 10_000;
/**
 * At least this many idle keys keep their limiter (14 KB each). When twice as many keys have one,
 * the limiters of the other idle keys are released. Making a limiter again takes as long as sending
 * about thirty requests.
 */
const AWAKE_IDLE_KEYS = 256;

/** A key with its limiter, or with the last state of a limiter that had nothing to remember. */
interface Entry {
  limiter: Limiter | undefined;
  last: RestingState | undefined;
  /** Whether the key was used since the last idle check, or busy at that check. */
  isUsed: boolean;
  /** Whether the user holds its limiter, so that it is not dropped. */
  isKept: boolean;
  /** Its last use, counted over all keys. */
  usedAt: number;
}

/** A key that was idle at the last check of all keys. */
interface IdleKey {
  readonly key: string;
  readonly entry: Entry;
  readonly usedAt: number;
}

export interface KeyTableOptions {
  readonly clock: Clock;
  /** See `LimiterGroupOptions`. */
  readonly idleMs: number | undefined;
  readonly maxKeys: number | undefined;
  /** Makes the limiter of a key. */
  readonly open: (key: string, before: CountedBefore | undefined) => Limiter;
  /** Called when it is in the table: listeners may use its key at once. */
  readonly opened: (key: string, limiter: Limiter) => void;
}

/**
 * The limiters of a group by their keys. Idle keys are dropped after a while. If there are many
 * idle keys, the limiters of the oldest ones are released earlier, and made again when their keys
 * are used. Only limiters without any state to keep are released, so this saves memory and changes
 * no behaviour.
 */
export class KeyTable {
  readonly #open: KeyTableOptions['open'];
  readonly #opened: KeyTableOptions['opened'];
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #maxKeys: number;
  readonly #entries = new Map<string, Entry>();
  readonly #sweeper: ResettableTimer;
  #uses = 0;
  /** Keys that may be dropped to make room, the oldest last. */
  #idle: IdleKey[] = [];
  /** The keys that have a limiter. At `#mostAwake` of them, limiters of idle keys are released. */
  readonly #awake = new Map<string, Entry>();
  #mostAwake = 2 * AWAKE_IDLE_KEYS;
  #isClosed = false;
  readonly #resting = new RestingStates();

  /** @throws RangeError or TypeError that names a wrong option */
  constructor({ clock, idleMs, maxKeys, open, opened }: KeyTableOptions) {
    this.#idleMs = checkNumber('idleMs', idleMs ?? DEFAULT_IDLE_MS, 1);
    this.#maxKeys = checkInteger('maxKeys', maxKeys ?? DEFAULT_MAX_KEYS, 1);
    this.#clock = clock;
    this.#open = open;
    this.#opened = opened;
    this.#sweeper = new ResettableTimer(clock, () => this.#dropIdle(), false);
  }

  get keys(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /** The limiters that were not released. A copy: their events may add others. */
  get limiters(): readonly Limiter[] {
    return this.awake.map(([, limiter]) => limiter);
  }

  /** The same limiters with their keys. */
  get awake(): readonly (readonly [key: string, limiter: Limiter])[] {
    const awake: [string, Limiter][] = [];
    for (const [key, { limiter }] of this.#awake) {
      if (limiter !== undefined) awake.push([key, limiter]);
    }
    return awake;
  }

  /** The state of each key. */
  get snapshots(): readonly (readonly [key: string, snapshot: LimiterSnapshot])[] {
    return [...this.#entries].flatMap(([key, { limiter, last }]) => {
      const snapshot = limiter?.snapshot() ?? (last && snapshotOf(last, this.#clock.now()));
      return snapshot === undefined ? [] : [[key, snapshot] as const];
    });
  }

  /**
   * The limiter of a key.
   * @throws TooManyKeysError, and as `open` does
   */
  limiterOf(key: string): Limiter {
    const known = this.#entries.get(key);
    if (known === undefined) return this.#add(key);
    known.isUsed = true;
    this.#uses += 1;
    known.usedAt = this.#uses;
    return known.limiter ?? this.#wake(key, known);
  }

  /** The limiter of a key, which is kept from now on. */
  keep(key: string): Limiter {
    const limiter = this.limiterOf(key);
    const entry = this.#entries.get(key);
    if (entry !== undefined) entry.isKept = true;
    return limiter;
  }

  /**
   * Limiters are made in another way from now on.
   * @param open makes a limiter in that way; called for each kind of released limiters
   * @returns makes the snapshots of released limiters what they would be now
   */
  renewed(open: KeyTableOptions['open']): () => void {
    const renewed = new Map<LimiterSnapshot, LimiterSnapshot>();
    for (const [key, { last }] of this.#entries) {
      if (last === undefined || renewed.has(last.atRest)) continue;
      const { inside } = open(key, last);
      renewed.set(last.atRest, this.#resting.keep(inside.snapshot(), this.#clock.now()).atRest);
      inside.lifecycle.abandon();
    }
    return () => {
      for (const entry of this.#entries.values()) {
        const atRest = entry.last && renewed.get(entry.last.atRest);
        if (entry.last !== undefined && atRest !== undefined)
          entry.last = { ...entry.last, atRest };
      }
    };
  }

  /** Stops dropping idle keys. */
  close(): void {
    this.#isClosed = true;
    this.#sweeper.cancel();
  }

  #add(key: string): Limiter {
    if (this.#entries.size >= this.#maxKeys) this.#makeRoom();
    const limiter = this.#open(key, undefined);
    this.#uses += 1;
    if (!this.#isClosed && this.#entries.size === 0) this.#sweepLater();
    const usedAt = this.#uses;
    const entry = { limiter, last: undefined, isUsed: true, isKept: false, usedAt };
    this.#entries.set(key, entry);
    this.#awoke(key, entry);
    this.#opened(key, limiter);
    return limiter;
  }

  #wake(key: string, entry: Entry): Limiter {
    const limiter = this.#open(key, entry.last);
    entry.limiter = limiter;
    entry.last = undefined;
    this.#awoke(key, entry);
    this.#opened(key, limiter);
    return limiter;
  }

  /**
   * Releases limiters of idle keys, once the number of limiters has grown by half since the last
   * time. So each key costs O(1), amortised.
   */
  #awoke(key: string, entry: Entry): void {
    this.#awake.set(key, entry);
    if (this.#awake.size < this.#mostAwake) return;
    const idle = idleKeys(
      this.#awake,
      ({ limiter }) => limiter !== undefined && mayBeGivenUp(limiter.inside),
    );
    for (const { key: old, entry: asleep } of idle.slice(AWAKE_IDLE_KEYS)) {
      if (asleep.limiter === undefined) continue;
      asleep.last = this.#resting.keep(asleep.limiter.snapshot(), this.#clock.now());
      this.#giveUp(old, asleep);
    }
    this.#mostAwake = Math.max(2 * AWAKE_IDLE_KEYS, 1.5 * this.#awake.size);
  }

  #giveUp(key: string, entry: Entry): void {
    if (entry.limiter === undefined) return;
    entry.limiter.inside.lifecycle.abandon();
    entry.limiter = undefined;
    this.#awake.delete(key);
  }

  /**
   * Drops the key that was idle longest. Lists the idle keys again when the last list is used up.
   * @throws TooManyKeysError
   */
  #makeRoom(): void {
    if (this.#dropOldest()) return;
    this.#idle = idleKeys(this.#entries, isForgettable);
    if (!this.#dropOldest()) throw new TooManyKeysError(this.#maxKeys);
  }

  #dropOldest(): boolean {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      const { key, entry, usedAt } = idle;
      if (this.#entries.get(key) !== entry || entry.usedAt !== usedAt) continue;
      if (entry.isKept || !isForgettable(entry)) continue;
      this.#drop(key, entry);
      return true;
    }
    return false;
  }

  /**
   * Drops the keys that were idle since the last check. One timer checks all keys, so a request
   * only sets a flag.
   */
  #dropIdle(): void {
    for (const [key, entry] of this.#entries) {
      if (!entry.isUsed && !entry.isKept && isForgettable(entry)) this.#drop(key, entry);
      entry.isUsed = entry.limiter?.inside.counters.isEmpty === false;
    }
    if (this.#entries.size > 0) this.#sweepLater();
  }

  #drop(key: string, entry: Entry): void {
    this.#giveUp(key, entry);
    this.#entries.delete(key);
  }

  #sweepLater(): void {
    this.#sweeper.set(this.#idleMs, this.#clock.now());
  }
}

/** Whether a new limiter would behave as the limiter of this key. */
function isForgettable({ limiter }: Entry): boolean {
  return limiter === undefined || isAtRest(limiter.inside);
}

/** The keys that may be dropped, the last used first. */
function idleKeys(
  entries: ReadonlyMap<string, Entry>,
  mayGo: (entry: Entry) => boolean,
): IdleKey[] {
  return [...entries]
    .filter(([, entry]) => !entry.isKept && mayGo(entry))
    .map(([key, entry]) => ({ key, entry, usedAt: entry.usedAt }))
    .sort((one, other) => other.usedAt - one.usedAt);
}

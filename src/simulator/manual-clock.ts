import { setImmediate } from 'node:timers';
import { checkKeys, checkNumber } from '../util/check.ts';
import type { Clock, Timer } from '../util/clock.ts';
import { Heap, type Placed } from '../util/collections.ts';

/** More timers than this at one instant count as an endless loop. */
const MAX_TIMERS_AT_ONE_INSTANT = 1_000_000;

const HOUR_MS = 3_600_000;

/** Options of `ManualClock.runAll`. */
export interface RunAllOptions {
  /** How far the clock may move, in milliseconds. Default: one hour. */
  maxMs?: number;
}

interface PendingTimer extends Placed {
  readonly atMs: number;
  readonly order: number;
  readonly callback: () => void;
  /** It has neither fired nor been cancelled. */
  isPending: boolean;
}

/** By due time, then in the order in which they were set. */
function firesBefore(one: PendingTimer, other: PendingTimer): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
}

/** Waits until all pending promise reactions have run: the event loop drains microtasks first. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/**
 * A clock that moves only when a method advances it. Time is in milliseconds.
 *
 * Timers fire in order of their due time; timers due at the same instant fire in the order in which
 * they were set. A timer that a callback sets for the present instant fires in the same advance.
 * While a callback runs, `now()` is the instant its timer was due. When a callback throws,
 * `advance` throws the error, and the clock stays at that instant and can be advanced again.
 *
 * ```ts
 * const clock = new ManualClock();
 * clock.setTimer(() => console.log(clock.now()), 250);
 * clock.advance(1000); // prints 250
 * ```
 *
 * Promise-based code needs `advanceAsync`, which lets promises settle between timers.
 */
export class ManualClock implements Clock {
  readonly #timers = new Heap<PendingTimer>(0, firesBefore);
  #nowMs: number;
  #order = 0;
  #running = false;
  #firedAtThisInstant = 0;

  /** @param startMs the initial value of `now()`. Default 0. */
  constructor(startMs = 0) {
    this.#nowMs = checkNumber('startMs', startMs, 0);
  }

  now(): number {
    return this.#nowMs;
  }

  /** The number of timers that have neither fired nor been cancelled. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** The time of the next timer; undefined: there is none. */
  get nextTimerMs(): number | undefined {
    return this.#timers.top?.atMs;
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    const atMs = this.#nowMs + checkNumber('delayMs', delayMs, 0);
    const order = this.#order++;
    const timer: PendingTimer = { atMs, order, callback, places: [], isPending: true };
    this.#timers.add(timer);
    return { cancel: () => this.#remove(timer) };
  }

  /** A cancelled timer is removed at once, so that cancelled timers do not accumulate. */
  #remove(timer: PendingTimer): void {
    if (timer.isPending) this.#timers.delete(timer);
    timer.isPending = false;
  }

  /** Moves `ms` ahead and fires every timer on the way. */
  advance(ms: number): void {
    this.advanceTo(this.#nowMs + checkNumber('ms', ms, 0));
  }

  /** Moves to an instant, which must not be in the past, and fires every timer on the way. */
  advanceTo(atMs: number): void {
    checkNumber('atMs', atMs, this.#nowMs);
    this.#run(() => {
      while (this.#fireNext(atMs));
    });
    this.#nowMs = atMs;
  }

  /** As `advance`, but promises settle before the first timer and after each one. */
  async advanceAsync(ms: number): Promise<void> {
    await this.advanceToAsync(this.#nowMs + checkNumber('ms', ms, 0));
  }

  /** As `advanceTo`, but promises settle before the first timer and after each one. */
  async advanceToAsync(atMs: number): Promise<void> {
    checkNumber('atMs', atMs, this.#nowMs);
    await this.#runAsync(async () => {
      await settle();
      while (this.#fireNext(atMs)) await settle();
      this.#nowMs = atMs;
    });
    await settle();
  }

  /**
   * Fires timers until none is left; the clock stops at the last one.
   *
   * @throws Error when timers are left after `maxMs`, as with a timer that always sets itself again
   */
  runAll(options: RunAllOptions = {}): void {
    const untilMs = this.#horizon(options);
    this.#run(() => {
      while (this.#fireNext(untilMs));
    });
    this.#refuseLeftovers(untilMs);
  }

  /** As `runAll`, but promises settle before the first timer and after each one. */
  async runAllAsync(options: RunAllOptions = {}): Promise<void> {
    const untilMs = this.#horizon(options);
    await this.#runAsync(async () => {
      await settle();
      while (this.#fireNext(untilMs)) await settle();
    });
    this.#refuseLeftovers(untilMs);
  }

  #horizon(options: RunAllOptions): number {
    checkKeys('clock.runAll', options, ['maxMs']);
    return this.#nowMs + checkNumber('maxMs', options.maxMs ?? HOUR_MS, 0);
  }

  #refuseLeftovers(untilMs: number): void {
    if (this.#timers.size > 0) {
      throw new Error(`${this.#timers.size} timers are still pending at ${untilMs} ms`);
    }
  }

  #fireNext(untilMs: number): boolean {
    const timer = this.#timers.top;
    if (timer === undefined || timer.atMs > untilMs) return false;
    this.#remove(timer);
    this.#firedAtThisInstant = timer.atMs > this.#nowMs ? 1 : this.#firedAtThisInstant + 1;
    if (this.#firedAtThisInstant > MAX_TIMERS_AT_ONE_INSTANT) {
      throw new Error(`more than ${MAX_TIMERS_AT_ONE_INSTANT} timers fired at ${timer.atMs} ms`);
    }
    this.#nowMs = timer.atMs;
    timer.callback();
    return true;
  }

  #run(body: () => void): void {
    this.#enter();
    try {
      body();
    } finally {
      this.#running = false;
    }
  }

  async #runAsync(body: () => Promise<void>): Promise<void> {
    this.#enter();
    try {
      await body();
    } finally {
      this.#running = false;
    }
  }

  #enter(): void {
    if (this.#running) throw new Error('the clock is already advancing');
    this.#running = true;
    this.#firedAtThisInstant = 0;
  }
}

import { setImmediate } from 'node:timers';
import { checkNumber } from '../util/check.ts';
import type { Clock, Timer } from '../util/clock.ts';
import { Heap, type Placed } from '../util/collections.ts';

/** More timers than this at one instant are taken for an endless loop. */
const MAX_TIMERS_AT_ONE_INSTANT = 1_000_000;

const HOUR_MS = 3_600_000;

/** @see ManualClock.runAll */
export interface RunAllOptions {
  /** How far the clock may move, in milliseconds. Default: one hour. */
  maxMs?: number;
}

interface PendingTimer extends Placed {
  readonly atMs: number;
  readonly order: number;
  readonly callback: () => void;
  /** It has neither fired nor was it cancelled. */
  isPending: boolean;
}

/** By due time, then in the order in which they were set. */
function firesBefore(one: PendingTimer, other: PendingTimer): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
}

/** Lets every promise reaction that can run do so: the event loop drains microtasks first. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/**
 * A clock that stands still until it is told to move. Time is in milliseconds.
 *
 * Timers fire in order of their due time; those due at the same instant in the order in which
 * they were set. A timer that a callback sets for the present instant fires in the same advance.
 * While a callback runs, `now()` is the instant its timer was due. When a callback throws,
 * the error comes out of `advance`, and the clock stands at that instant, ready to go on.
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

  /** @param startMs what `now()` says at first. Default 0. */
  constructor(startMs = 0) {
    this.#nowMs = checkNumber('startMs', startMs, 0);
  }

  now(): number {
    return this.#nowMs;
  }

  /** How many timers are set and neither fired nor cancelled. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** When the next timer is due, or undefined when there is none. */
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

  /** A cancelled timer leaves at once, so that a long test does not collect dead ones. */
  #remove(timer: PendingTimer): void {
    if (timer.isPending) this.#timers.delete(timer);
    timer.isPending = false;
  }

  /** Moves `ms` ahead and fires every timer on the way. */
  advance(ms: number): void {
    this.advanceTo(this.#nowMs + checkNumber('ms', ms, 0));
  }

  /** Moves to an instant, which must not lie in the past, and fires every timer on the way. */
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
   * @throws Error when timers are left after `maxMs`, as with one that sets itself again for ever
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

import { checkMethods } from './check.ts';

/**
 * A timer that was set on a {@link Clock}. Cancelling it twice, or after it fired, does nothing.
 */
export interface Timer {
  cancel(): void;
}

/**
 * Where gates read the time. `now()` is monotonic milliseconds from any origin;
 * `setTimer` calls back once, `delayMs` from now, never before it returned.
 *
 * The default is `systemClock`; `ManualClock` and `schedulerClock` in `headgate/simulator`
 * run the same gates in virtual time.
 */
export interface Clock {
  /** The time in ms. It never steps back, and its origin has no meaning. */
  now(): number;
  /**
   * Calls back once, `delayMs` from now, unless the returned timer is cancelled.
   * @param keepAlive whether the process must stay up for this timer. Default true: a request waits
   * for it.
   */
  setTimer(callback: () => void, delayMs: number, keepAlive?: boolean): Timer;
}

/** @throws TypeError for a value that is not a clock */
export function checkClock(clock: unknown): void {
  if (clock !== undefined) checkMethods('clock', clock, ['now', 'setTimer']);
}

/** A source of numbers in [0, 1), as `Math.random`. */
export type Random = () => number;

/** The longest delay of Node's timers; a longer one fires at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

const real = { performance, setTimeout };

/** Whether fake timers were in place at the last reading, and the value of that reading. */
let wasFaked = false;
let lastMs = 0;
/**
 * Added to readings: fake timers begin at another time, and the clock never goes back. Whole
 * milliseconds: differences of readings are exact where the fake times are whole numbers.
 */
let addedMs = 0;

/**
 * `performance` is a slow getter in Node, so it is read once. Only where fake timers have replaced
 * `setTimeout` it is read each time: most of them replace `performance` too.
 */
function nowMs(): number {
  if (setTimeout !== real.setTimeout || wasFaked) return nowAroundFakes();
  return real.performance.now() + addedMs;
}

function nowAroundFakes(): number {
  const isFaked = setTimeout !== real.setTimeout;
  if (!wasFaked) lastMs = real.performance.now() + addedMs;
  const now = (isFaked ? performance : real.performance).now();
  addedMs = Math.max(addedMs, Math.ceil(lastMs - now));
  lastMs = now + addedMs;
  wasFaked = isFaked;
  return lastMs;
}

/**
 * More than the part of a millisecond by which a real timer may fire early, where a program has
 * wrapped `setTimeout`.
 */
const EARLY_MS = 2;

/**
 * Goes on to the time of a fake timer that fires. Fake timers that leave `performance` as it is
 * (those of node:test, or a list without it) would otherwise be set again each time they fire.
 */
function fakeTimerFired(at: number): void {
  if (setTimeout === real.setTimeout) return;
  const earlyMs = Math.ceil(at - nowMs());
  if (earlyMs > EARLY_MS) addedMs += earlyMs;
}

class SystemTimer implements Timer {
  readonly #callback: () => void;
  readonly #at: number;
  readonly #keepAlive: boolean;
  #firesAt = 0;
  #timeout: NodeJS.Timeout | undefined;

  constructor(callback: () => void, at: number, keepAlive: boolean) {
    this.#callback = callback;
    this.#at = at;
    this.#keepAlive = keepAlive;
    this.#arm();
  }

  cancel(): void {
    clearTimeout(this.#timeout);
  }

  #arm(): void {
    const now = nowMs();
    const delayMs = Math.min(Math.max(0, Math.ceil(this.#at - now)), LONGEST_DELAY_MS);
    this.#firesAt = now + delayMs;
    this.#timeout = setTimeout(() => this.#fire(), delayMs);
    // Timers of browsers, jsdom and edge runtimes are numbers, and keep no process alive.
    if (!this.#keepAlive) this.#timeout.unref?.();
  }

  #fire(): void {
    fakeTimerFired(this.#firesAt);
    if (nowMs() < this.#at) this.#arm();
    else this.#callback();
  }
}

/** Real time: `performance.now()` and Node's timers, of any length. */
export const systemClock: Clock = {
  now: nowMs,
  setTimer: (callback, delayMs, keepAlive = true) =>
    new SystemTimer(callback, nowMs() + delayMs, keepAlive),
};

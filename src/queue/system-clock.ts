import type { Clock, Timer } from '../util/clock.ts';

/** The longest delay of Node's timers; a longer one fires at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

const real = { performance, setTimeout };

/**
 * `performance` is a slow getter in Node, so it is read once. Only where fake timers have replaced
 * `setTimeout` it is read each time: they replace `performance` too.
 */
function nowMs(): number {
  return (setTimeout === real.setTimeout ? real.performance : performance).now();
}

class SystemTimer implements Timer {
  readonly #callback: () => void;
  readonly #at: number;
  readonly #keepAlive: boolean;
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
    const leftMs = Math.max(0, Math.ceil(this.#at - nowMs()));
    this.#timeout = setTimeout(() => this.#fire(), Math.min(leftMs, LONGEST_DELAY_MS));
    if (!this.#keepAlive) this.#timeout.unref();
  }

  #fire(): void {
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

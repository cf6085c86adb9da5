import type { Clock, Timer } from './clock.ts';

/** Deadlines that differ by less are equal: the difference is rounding. */
const SAME_MS = 1e-3;

/** One timer that always has the last deadline it was given. */
export class ResettableTimer {
  readonly #clock: Clock;
  readonly #wake: () => void;
  readonly #keepAlive: boolean;
  #timer: Timer | undefined = undefined;
  /** When it fires; Infinity: never. */
  at = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, wake: () => void, keepAlive = true) {
    this.#clock = clock;
    this.#wake = wake;
    this.#keepAlive = keepAlive;
  }

  /** @param waitMs Infinity: no timer is needed */
  set(waitMs: number, now: number): void {
    const at = now + waitMs;
    if (this.#timer !== undefined && Math.abs(this.at - at) < SAME_MS) return;
    this.cancel();
    if (waitMs === Number.POSITIVE_INFINITY) return;
    this.at = at;
    const fire = () => {
      this.#forget();
      this.#wake();
    };
    this.#timer = this.#clock.setTimer(fire, Math.max(0, waitMs), this.#keepAlive);
  }

  cancel(): void {
    if (this.#timer === undefined) return;
    this.#timer.cancel();
    this.#forget();
  }

  #forget(): void {
    this.#timer = undefined;
    this.at = Number.POSITIVE_INFINITY;
  }
}

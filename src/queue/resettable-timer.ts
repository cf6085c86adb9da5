import type { Clock, Timer } from '../model/clock.ts';

/** Deadlines that differ by less are the same but for rounding. */
const SAME_MS = 1e-3;

/** One timer that is set to the time that was named last. */
export class ResettableTimer {
  private readonly clock: Clock;
  private readonly wake: () => void;
  private readonly keepAlive: boolean;
  private timer: Timer | undefined = undefined;
  /** When it will wake; Infinity: never. */
  at = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, wake: () => void, keepAlive = true) {
    this.clock = clock;
    this.wake = wake;
    this.keepAlive = keepAlive;
  }

  /** @param waitMs Infinity: time will not help */
  set(waitMs: number, now: number): void {
    const at = now + waitMs;
    if (this.timer !== undefined && Math.abs(this.at - at) < SAME_MS) return;
    this.cancel();
    if (waitMs === Number.POSITIVE_INFINITY) return;
    this.at = at;
    const fire = () => {
      this.forget();
      this.wake();
    };
    this.timer = this.clock.setTimer(fire, Math.max(0, waitMs), this.keepAlive);
  }

  cancel(): void {
    if (this.timer === undefined) return;
    this.timer.cancel();
    this.forget();
  }

  private forget(): void {
    this.timer = undefined;
    this.at = Number.POSITIVE_INFINITY;
  }
}

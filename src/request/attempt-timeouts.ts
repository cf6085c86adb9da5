import { AttemptTimeoutError } from '../model/errors.ts';
import type { Clock } from '../util/clock.ts';
import { ResettableTimer } from '../util/resettable-timer.ts';

/** An attempt that runs. */
export interface TimedAttempt {
  startedAt: number;
  /** Its neighbours among those that run. */
  earlier: TimedAttempt | undefined;
  later: TimedAttempt | undefined;
  timedOut(error: AttemptTimeoutError): void;
}

/**
 * Ends attempts that take too long. All have the same time, so the first to start is the first to end:
 * one timer, and O(1) an attempt. The timer keeps no process alive: what an attempt waits for does.
 */
export class AttemptTimeouts {
  readonly timeoutMs: number;
  private readonly clock: Clock;
  private readonly timer: ResettableTimer;
  private first: TimedAttempt | undefined = undefined;
  private last: TimedAttempt | undefined = undefined;

  constructor(timeoutMs: number, clock: Clock) {
    this.timeoutMs = timeoutMs;
    this.clock = clock;
    this.timer = new ResettableTimer(clock, () => this.expire(), false);
  }

  /** @param at when it was started; NaN: just now */
  started(attempt: TimedAttempt, at: number): void {
    attempt.startedAt = Number.isNaN(at) ? this.clock.now() : at;
    attempt.earlier = this.last;
    if (this.last === undefined) {
      this.first = attempt;
      this.timer.set(this.timeoutMs, attempt.startedAt);
    } else this.last.later = attempt;
    this.last = attempt;
  }

  /** It has ended. The timer stays where others run: it looks again when it wakes. */
  ended(attempt: TimedAttempt): void {
    const { earlier, later } = attempt;
    if (earlier === undefined && this.first !== attempt) return;
    if (earlier === undefined) this.first = later;
    else earlier.later = later;
    if (later === undefined) this.last = earlier;
    else later.earlier = earlier;
    attempt.earlier = undefined;
    attempt.later = undefined;
    if (this.first === undefined) this.timer.cancel();
  }

  private expire(): void {
    for (let attempt = this.first; attempt !== undefined; attempt = this.first) {
      const now = this.clock.now();
      const leftMs = attempt.startedAt + this.timeoutMs - now;
      if (leftMs > 0) {
        this.timer.set(leftMs, now);
        return;
      }
      this.ended(attempt);
      attempt.timedOut(new AttemptTimeoutError(this.timeoutMs));
    }
  }
}

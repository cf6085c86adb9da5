import type { Clock, Timer } from './clock.ts';
import { type Linked, LinkedList } from './collections.ts';

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

/** Something that may take too long. It can be in one {@link Timeouts} at a time. */
export interface Timed extends Linked<Timed> {
  /** Since when it runs, in the clock's milliseconds. Does not change while it is timed. */
  readonly startedAt: number;
  /** It has taken too long, and is timed no longer. */
  timedOut(timeoutMs: number): void;
}

/**
 * Ends members that take too long. All members have the same time, so the first to start is the
 * first to end: one timer, and O(1) for each.
 */
export class Timeouts {
  #timeoutMs: number;
  readonly #clock: Clock;
  readonly #timer: ResettableTimer;
  readonly #running = new LinkedList<Timed>();

  /**
   * @param timeoutMs Infinity: no member is ended
   * @param keepAlive whether the process must stay up until the members end
   */
  constructor(timeoutMs: number, clock: Clock, keepAlive: boolean) {
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
    this.#timer = new ResettableTimer(clock, () => this.#expire(), keepAlive);
  }

  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  /** Changes the time, also for running members. */
  configure(timeoutMs: number): void {
    this.#timeoutMs = timeoutMs;
    this.#timer.cancel();
    const { first } = this.#running;
    if (first !== undefined) this.#arm(first, this.#clock.now());
  }

  started(member: Timed, now: number): void {
    const isFirst = this.#running.first === undefined;
    this.#running.add(member);
    if (isFirst) this.#arm(member, now);
  }

  /**
   * Removes a member that has ended; does nothing if it is not timed. If other members run, the
   * timer is not reset: when it fires, it is set for the next one.
   */
  ended(member: Timed): void {
    this.#running.remove(member);
    if (this.#running.first === undefined) this.#timer.cancel();
  }

  #arm({ startedAt }: Timed, now: number): void {
    this.#timer.set(startedAt + this.#timeoutMs - now, now);
  }

  #expire(): void {
    let now = this.#clock.now();
    try {
      for (let { first } = this.#running; first !== undefined; first = this.#running.first) {
        if (now < first.startedAt + this.#timeoutMs) return;
        this.ended(first);
        first.timedOut(this.#timeoutMs);
        now = this.#clock.now();
      }
    } finally {
      // Time the other members, even if one of them throws.
      const { first } = this.#running;
      if (first !== undefined) this.#arm(first, now);
    }
  }
}

import type { Closure } from './closure.ts';
import { FirstRate } from './first-rate.ts';
import { LEAST_DOUBLING } from './rate-probing.ts';

/** The first excess that is tried if the rate is not well known. */
export const LEAST_EXCESS = 0.05;
export const MOST_EXCESS = 1;
/**
 * From this share of time without demand on, a measurement shows the demand and not the provider.
 */
export const IDLE_PART = 0.05;
/** A first closure of this share of the time is that of a window. */
export const CLOSED_PART = 0.1;
/**
 * Most windows of rate limits last a minute, and answers take time. The first wait that is named and
 * longer than this may be a stop as well as a window, so that it must be seen twice.
 */
const LONGEST_WINDOW_MS = 90_000;

/** What the first closure that tells of a limit shows. */
export interface FirstMeasure {
  /** Attempts accepted per ms. */
  readonly perMs: number;
  /** The time that they took. */
  readonly sinceMs: number;
  /** What is tried beyond that, as a part of it, and with how many attempts it doubles. */
  readonly excess: number;
  readonly doubling: number;
}

/** The time until the first closure that tells of a limit. */
export class FirstStop {
  private firstAt: number | undefined;
  private readonly first = new FirstRate();
  /** The time of the first closure, if nothing was learned from it. */
  private stoppedMs = 0;

  /** @param firstAt when the first attempt was sent; undefined: none was */
  constructor(firstAt: number | undefined) {
    this.firstAt = firstAt;
  }

  sent(at: number): void {
    this.firstAt ??= at;
  }

  /** @param accepted attempts so far, of which the last was sent at `at` */
  accepted(accepted: number, at: number): void {
    this.first.add(accepted, at);
  }

  /** Whether a closure that ended at `to` says nothing of a limit: then the time in it does not count. */
  isSkipped(closure: Closure, to: number, namedUntil: number): boolean {
    if (!this.isStop(closure, to, namedUntil)) return false;
    // It was open until then: nothing is known of a limit.
    this.firstAt = (this.firstAt ?? to) + to - closure.startedAt;
    return true;
  }

  private isStop(closure: Closure, to: number, namedUntil: number): boolean {
    if (closure.isOutage) return true;
    // It may be a window, or an outage that looks like one: then it is not seen twice.
    if (closure.isLong && this.stoppedMs === 0 && this.isDemand(closure.idleMs, to)) {
      this.stoppedMs = to - closure.startedAt;
      return true;
    }
    const namedMs = namedUntil - closure.startedAt;
    // Whatever used up the limit was sent by others, or before.
    if (closure.accepted === 0) return namedMs > 0;
    if (namedMs <= LONGEST_WINDOW_MS) return false;
    if (this.stoppedMs > 0) {
      this.firstAt = (this.firstAt ?? to) - this.stoppedMs;
      return false;
    }
    this.stoppedMs = to - closure.startedAt;
    return true;
  }

  /** The attempts accepted until the closure are at most a window's limit. */
  measure(least: number, idleMs: number, from: number, to: number): FirstMeasure {
    const firstAt = this.firstAt ?? from;
    // The time without demand shows nothing of what is accepted.
    const perMs = this.first.perMs(least, Math.min(to, firstAt + idleMs), to);
    this.first.clear();
    const sinceMs = to - firstAt;
    const isDemand = this.isDemand(idleMs, to);
    // Only a window that was used up stays closed for long, and the mean is its rate. Otherwise that
    // may be what was asked for, or what the start let through, and the provider may accept far more.
    const isWindow = !isDemand && to - from > CLOSED_PART * sinceMs;
    const excess = isDemand ? MOST_EXCESS : Math.max(1 / least, 2 * LEAST_EXCESS);
    return {
      perMs,
      sinceMs,
      excess: Math.min(MOST_EXCESS, excess),
      doubling: isWindow ? least : LEAST_DOUBLING,
    };
  }

  /** Whether the rate was what was asked for, and not what the provider accepts. */
  private isDemand(idleMs: number, to: number): boolean {
    return idleMs > IDLE_PART * (to - (this.firstAt ?? to));
  }
}

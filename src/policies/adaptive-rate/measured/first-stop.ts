import type { Closure } from '../attempts/closure.ts';
import { FirstRate } from './first-rate.ts';
import { LEAST_DOUBLING } from './rate-probing.ts';

/** The least excess that is tried first if the rate is not well known, and the greatest. */
export const LEAST_EXCESS = 0.05;
export const MOST_EXCESS = 1;
/**
 * From this share of time without demand on, a measurement shows the demand and not the provider.
 */
export const IDLE_PART = 0.05;
/** A closure longer than this share of the time is that of a used-up window. */
export const CLOSED_PART = 0.1;
/**
 * Most windows of rate limits last a minute, and answers take time. A first closure that is longer
 * than this may have another cause than a window, so it must be seen twice.
 */
export const LONGEST_WINDOW_MS = 90_000;

/** If more closures than this look like outages, the provider rejects by its limit in this way. */
const MOST_OUTAGES = 2;

/** The measurement at the first closure that shows a limit. */
export interface FirstMeasure {
  /** Attempts accepted per ms. */
  readonly perMs: number;
  /** The time since the first attempt, in ms. */
  readonly sinceMs: number;
  /**
   * The excess over `perMs` that is tried first, as a share, and after how many attempts it
   * doubles.
   */
  readonly excess: number;
  readonly doubling: number;
}

/** Measures the time until the first closure that shows a limit. */
export class FirstStop {
  private firstAt: number | undefined;
  private readonly first = new FirstRate();
  private outages = 0;
  /** The duration of a closure that was skipped because it must be seen twice; else 0. */
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

  /**
   * Whether a closure that ended at `to` shows nothing about a limit: then its duration does not
   * count.
   */
  isSkipped(closure: Closure, to: number, namedUntil: number): boolean {
    if (!this.isStop(closure, to, namedUntil)) return false;
    // Leave out the duration of the closure.
    this.firstAt = (this.firstAt ?? to) + to - closure.startedAt;
    return true;
  }

  private isStop(closure: Closure, to: number, namedUntil: number): boolean {
    // The limit was used up before, or by others, or the API rejects everything.
    if (closure.accepted === 0) return true;
    if (closure.isOutage && this.outages < MOST_OUTAGES) {
      this.outages += 1;
      return true;
    }
    // A window would close again in this way; an outage that looks like a window would not.
    if (closure.isLong && this.stoppedMs === 0 && this.isDemand(closure.idleMs, to)) {
      this.stoppedMs = to - closure.startedAt;
      return true;
    }
    const knownMs = Math.max(namedUntil, closure.lastAt) - closure.startedAt;
    if (knownMs <= LONGEST_WINDOW_MS) return false;
    if (this.stoppedMs > 0) {
      this.firstAt = (this.firstAt ?? to) - this.stoppedMs;
      return false;
    }
    this.stoppedMs = to - closure.startedAt;
    return true;
  }

  /** @param accepted the attempts accepted until the closure: at most a window's limit */
  measure(accepted: number, idleMs: number, from: number, to: number): FirstMeasure {
    const firstAt = this.firstAt ?? from;
    // Time without demand shows nothing about the limit.
    const perMs = this.first.perMs(accepted, Math.min(to, firstAt + idleMs), to);
    this.first.clear();
    const sinceMs = to - firstAt;
    const isDemand = this.isDemand(idleMs, to);
    // Only a used-up window stays closed for long; then the mean is its rate. Otherwise the mean
    // may be the demand or the rate of the slow start, and the provider may accept far more.
    const isWindow = !isDemand && to - from > CLOSED_PART * sinceMs;
    const excess = isDemand ? MOST_EXCESS : Math.max(1 / accepted, 2 * LEAST_EXCESS);
    return {
      perMs,
      sinceMs,
      excess: Math.min(MOST_EXCESS, excess),
      doubling: isWindow ? accepted : LEAST_DOUBLING,
    };
  }

  /** Whether the demand, and not the provider, has set the rate. */
  private isDemand(idleMs: number, to: number): boolean {
    return idleMs > IDLE_PART * (to - (this.firstAt ?? to));
  }
}

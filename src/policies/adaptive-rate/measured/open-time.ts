import type { Closure, CountedOpen } from '../attempts/closure.ts';
import type { SentAttempt } from '../attempts/sent-attempt.ts';
import type { RateBounds } from './congestion-samples.ts';
import { type OutgrownRate, outgrownRate } from './outgrown-rate.ts';

/**
 * The weight of the longest earlier cycle at each new one. The rate counts as grown only after such
 * a time, since a window may remember requests for as long.
 */
const CYCLE_WEIGHT = 0.9;

/** The attempts accepted, and the time without demand, since the last closure ended. */
export class OpenTime implements CountedOpen {
  accepted: number;
  /**
   * The time without demand, the part of it in which used capacity came back, in ms, and the number
   * of such times.
   */
  idleMs: number;
  refillMs = 0;
  idles = 0;
  /** The attempts accepted before the last time without demand. */
  beforeIdle: number;
  /** When the last closure ended. */
  startedAt = 0;
  /** The time from the last rejection of the last closure to its end. */
  gapMs = 0;
  /** When the last settled attempt was sent. */
  private settledAt = 0;
  /**
   * The longest recent cycle: the time with demand from the end of a closure to the end of the
   * next.
   */
  private cycleMs = 0;

  constructor(accepted: number, idleMs: number, beforeIdle: number) {
    this.accepted = accepted;
    this.idleMs = idleMs;
    this.beforeIdle = Math.min(accepted, beforeIdle);
  }

  /** The mean rate of accepted attempts, per ms. */
  get meanPerMs(): number {
    return this.accepted / Math.max(1, this.settledAt - this.startedAt - this.idleMs);
  }

  /** @param refillMs the part of the time without demand in which used capacity came back */
  settled({ at, idleMs }: SentAttempt, refillMs: number): void {
    this.settledAt = at;
    this.idleMs += idleMs;
    this.refillMs += refillMs;
    if (idleMs === 0) return;
    this.idles += 1;
    this.beforeIdle = this.accepted;
  }

  /** The time with demand until a closure began, in ms. */
  openMs({ startedAt, idleMs }: Closure): number {
    return Math.max(1e-3, startedAt - this.startedAt - idleMs);
  }

  /** A closure has ended that shows the rate. @param ms its time, and that with demand before it */
  cycled(ms: number): void {
    this.cycleMs = Math.max(ms, CYCLE_WEIGHT * this.cycleMs);
  }

  /** A closure has ended at `to`; the provider may have been open from `from` on. */
  reopened({ accepted, idleMs, refillMs, idles }: Closure, from: number, to: number): void {
    this.accepted -= accepted;
    this.refillMs -= refillMs;
    this.idleMs -= idleMs;
    this.idles -= idles;
    this.gapMs = to - from;
    this.startedAt = to;
  }

  /** Begins anew at this time. */
  restart(at: number): void {
    this.accepted = 0;
    this.idleMs = 0;
    this.refillMs = 0;
    this.idles = 0;
    this.startedAt = at;
  }

  /** A rate above the measured one that the attempts accepted until now show. */
  outgrown(perMs: number, bounds: RateBounds | undefined, now: number): OutgrownRate | undefined {
    const sinceMs = now - this.startedAt;
    if (this.idleMs > 0 || sinceMs < this.cycleMs) return undefined;
    // Answers may come in the instant of their requests, as in tests: no time shows no rate.
    const spanMs = Math.max(1, sinceMs + this.gapMs);
    return outgrownRate(perMs, bounds, this.accepted, spanMs);
  }
}

import type { ReportedLimit } from '../../model/feedback.ts';
import type { RejectedAttempt, SentAttempt } from './attempt.ts';
import { LearnedRate } from './learned-rate.ts';
import { Pacer } from './pacer.ts';
import { EXACT_PART, ReportedRate } from './reported-rate.ts';

/** What was sent before anything was counted. */
export interface Past {
  readonly sent: number;
  readonly since: number;
}

/** Where the rate comes from that is in force; `start`: nothing is known yet. */
export type RateOrigin = 'start' | 'limit' | 'headers' | 'learned';

/** A rate that was learned, and is as near as this to the one that is told, is that one. */
const NEAR = 0.05;

/**
 * What may be sent in so long at first goes at once, as TCP's initial window does (RFC 6928): next
 * to no provider turns that away, and it comes back as fast as the first answers.
 */
const AT_ONCE_MS = 1_000;

/** One thing that a provider counts, requests or tokens: the rates that are known of it, and its pace. */
export class Dimension {
  readonly #learned: LearnedRate;
  readonly #reported = new ReportedRate();
  readonly #pacer: Pacer;
  readonly #hardPerMs: () => number;
  #origin: RateOrigin = 'start';
  #attempts: number;
  #sent: number;
  /** Of these, what was not accepted. */
  #attemptsLost = 0;
  #lost = 0;
  #isBound = false;

  /**
   * @param startPerMs the rate at first; Infinity: none until something is known
   * @param fallbackPerMs the most to start from again after a rejection before which nothing was accepted
   * @param floorPerMs the least that can be learned, in attempts of mean cost
   * @param burstMs how much of what was not sent in time may be sent later, at once
   * @param past attempts that were sent before anything was counted, and since when
   * @param hardPerMs the rate of a limit that was configured, asked each time; Infinity: none was
   */
  constructor(
    startPerMs: number,
    fallbackPerMs: number,
    floorPerMs: number,
    past: Past,
    hardPerMs: () => number,
    burstMs = 0,
  ) {
    this.#learned = new LearnedRate(startPerMs, fallbackPerMs, floorPerMs, past.since);
    this.#attempts = past.sent;
    this.#sent = past.sent;
    const isPaced = startPerMs !== Number.POSITIVE_INFINITY;
    const startMs = isPaced ? Math.max(burstMs, AT_ONCE_MS - 1 / startPerMs) : burstMs;
    this.#pacer = new Pacer(startPerMs, burstMs, startMs);
    this.#hardPerMs = hardPerMs;
  }

  /** Per ms, as of the last time that somebody asked. */
  get ratePerMs(): number {
    return this.#pacer.ratePerMs;
  }

  get sentAttempts(): number {
    return this.#attempts;
  }

  get origin(): RateOrigin {
    return this.#origin;
  }

  /** What the provider has accepted at the last congestion, per ms; undefined before the first. */
  get ceilingPerMs(): number | undefined {
    return this.#learned.ceilingPerMs;
  }

  get lastCutAt(): number | undefined {
    return this.#learned.lastCutAt;
  }

  /** Milliseconds until the next may go. */
  wait(now: number): number {
    this.#pacer.setRate(this.#rateAt(now), now);
    return this.#pacer.wait(now);
  }

  /** Whether it is this that somebody waits for: else a rate that grows tells nothing. */
  set isBound(isBound: boolean) {
    this.#isBound = isBound;
  }

  take(cost: number, now: number): SentAttempt {
    const isPaced = this.#pacer.ratePerMs !== Number.POSITIVE_INFINITY;
    const attempt = { at: now, order: this.#attempts, total: this.#sent, cost, isPaced };
    this.#attempts += 1;
    this.#sent += cost;
    this.#pacer.take(cost, now);
    this.#learned.sent(now);
    return attempt;
  }

  /** What an attempt has really cost. */
  settle({ cost, order, isPaced }: SentAttempt, actual: number): void {
    const more = actual - cost;
    this.#sent += more;
    if (isPaced) this.#pacer.giveBack(-more);
    this.#reported.corrected(order, more);
    this.#learned.corrected(order, more);
  }

  /** It was not accepted. @param isUnsent nor even sent */
  lost({ cost }: SentAttempt, isUnsent: boolean): void {
    this.#attemptsLost += 1;
    this.#lost += cost;
    if (isUnsent) this.#pacer.giveBack(cost);
  }

  /** What an answer says of the limit. @param isAccepted whether the attempt itself counts in it */
  reported(limit: ReportedLimit, attempt: SentAttempt, isAccepted: boolean, now: number): void {
    const total = attempt.total - this.#lost;
    this.#reported.reported(limit, { ...attempt, total }, isAccepted, now);
  }

  /** Of the attempts that were sent before this one, those that were accepted. */
  acceptedBefore({ order }: SentAttempt): number {
    return order - this.#attemptsLost;
  }

  /** Rejected, for want of this or not: which will show. To be told before it is {@link lost}. */
  full(attempt: SentAttempt, now: number): void {
    this.#learned.full(this.#rejectedAttempt(attempt), this.#attempts, now);
  }

  /** A pace begins, where there was none. */
  restart(now: number): void {
    this.#learned.restart(now);
  }

  /** Rejected for want of this. To be told before it is {@link lost}. @returns whether the rate is new */
  rejected(attempt: SentAttempt, now: number, retryAfterMs: number): boolean {
    const rejected = this.#rejectedAttempt(attempt);
    return this.#learned.rejected(rejected, this.#attempts, now, retryAfterMs);
  }

  /** The provider let nobody in for so long, for other reasons than this. */
  skip(ms: number, now: number): void {
    this.#learned.skip(ms, now);
  }

  /** Nobody goes before two intervals are over. */
  pause(mostMs: number, now: number): void {
    this.#pacer.setRate(this.#rateAt(now), now);
    this.#pacer.delayUntil(now + Math.min(mostMs, 2 / this.#pacer.ratePerMs));
  }

  #rejectedAttempt(attempt: SentAttempt): RejectedAttempt {
    const { at, order, total } = attempt;
    return { at, order, accepted: this.acceptedBefore(attempt), total: total - this.#lost };
  }

  #rateAt(now: number): number {
    const told = this.#reported.rateAt(this.#sent - this.#lost, now);
    if (told !== undefined) this.#learned.follow(told, now);
    const hard = this.#hardPerMs() * EXACT_PART;
    if (hard !== Number.POSITIVE_INFINITY) this.#learned.limitedTo(hard, now);
    const learned = this.#learned.rateAt(now, this.#isBound);
    const headers = Math.min(told ?? Number.POSITIVE_INFINITY, this.#exactly(now));
    const rate = Math.min(learned, headers, hard);
    if (rate === Number.POSITIVE_INFINITY) this.#origin = 'start';
    else if (rate === hard) this.#origin = 'limit';
    else if (rate === headers) this.#origin = 'headers';
    else this.#origin = this.ceilingPerMs === undefined ? 'start' : 'learned';
    return rate;
  }

  /** The limit that is told, if what was learned is as good as that. */
  #exactly(now: number): number {
    const { ceilingPerMs } = this;
    const toldPerMs = this.#reported.toldPerMs(now);
    if (ceilingPerMs === undefined || toldPerMs === undefined) return Number.POSITIVE_INFINITY;
    const isNear = Math.abs(ceilingPerMs / toldPerMs - 1) < NEAR;
    return isNear ? EXACT_PART * toldPerMs : Number.POSITIVE_INFINITY;
  }
}

import type { SentAttempt } from './sent-attempt.ts';

/**
 * An attempt counts as accepted after this multiple of the duration of rejections without an
 * answer.
 */
const SILENCE = 1.3;
/**
 * Added to `SILENCE`, divided by the number of rejections, while no answer shows that attempts are
 * accepted.
 */
const WHILE_FEW = 4;
/**
 * Before the first rejection an attempt counts as accepted after this time, in ms, if an answer has
 * come since it was sent. Most APIs reject within a second, and answers of models take half a
 * minute.
 */
export const PRESUMED_MS = 5_000;
/** How slowly the duration of rejections is forgotten. */
const FORGETS = 1 / 32;
/** Settled attempts are dropped in chunks of this size. */
const CHUNK = 4_096;

/** Is called once for each attempt. */
export interface SendHistoryListener {
  /**
   * The attempt is known to be accepted: answered, or not rejected for long enough. Called in any
   * order.
   */
  accepted(sent: SentAttempt): void;
  /**
   * The results of the attempt and of all sent before it are known. Called in the order of sending.
   */
  settled(sent: SentAttempt): void;
}

/**
 * The sent attempts, in order, with their results. Answers return in any order, and rejections may
 * take longer or shorter than other answers: only in the order of sending they show how much was
 * accepted.
 */
export class SendHistory {
  /** Attempts that have not ended. */
  inFlight = 0;
  /** The number of the first attempts of which all results are known. */
  settledCount = 0;
  private readonly listener: SendHistoryListener;
  private attempts: SentAttempt[] = [];
  /** The first attempt that is not settled. */
  private head = 0;
  /** The first attempt whose silence was not checked. */
  private asked = 0;
  private silenceMs = Number.POSITIVE_INFINITY;
  private answeredAt = Number.NEGATIVE_INFINITY;
  private _unknown = 0;
  /** The duration of slow recent rejections, in ms, and how many were measured. */
  private tookMs = 0;
  private rejections = 0;
  /** Whether an answer since the first rejection has shown that attempts are accepted. */
  private isConfirmed = false;

  constructor(listener: SendHistoryListener) {
    this.listener = listener;
  }

  /** Attempts without a known result. */
  get unknown(): number {
    return this._unknown;
  }

  get hasRejected(): boolean {
    return this.rejections > 0;
  }

  /**
   * The time without a rejection after which an attempt counts as accepted, in ms; Infinity before
   * the first rejection.
   */
  get horizonMs(): number {
    return this.silenceMs;
  }

  add(sent: SentAttempt): void {
    this.attempts.push(sent);
    this.inFlight += 1;
    this._unknown += 1;
    sent.unknown = this._unknown;
  }

  /** An attempt has ended with an answer. */
  end(): void {
    this.inFlight -= 1;
  }

  /**
   * @param answeredAt when its answer began; undefined if only silence shows that it is accepted
   * @returns false if its result was known already
   */
  accept(sent: SentAttempt, answeredAt?: number): boolean {
    if (answeredAt !== undefined) {
      this.answeredAt = answeredAt;
      sent.isAnswered = true;
      if (this.rejections > 0 && !this.isConfirmed) this.confirm(true);
    }
    if (sent.outcome !== 'unknown') return false;
    sent.outcome = 'accepted';
    this._unknown -= 1;
    this.listener.accepted(sent);
    return true;
  }

  /** The attempt has ended without evidence. */
  withdraw(sent: SentAttempt): void {
    this.inFlight -= 1;
    if (sent.outcome !== 'unknown') return;
    sent.outcome = 'withdrawn';
    this._unknown -= 1;
  }

  reject(sent: SentAttempt, now: number): void {
    this.inFlight -= 1;
    const tookMs = now - sent.at;
    this.tookMs = Math.max(tookMs, this.tookMs + (tookMs - this.tookMs) * FORGETS);
    this.rejections += 1;
    this.confirm(this.isConfirmed && sent.outcome !== 'accepted');
    if (sent.outcome === 'unknown') this._unknown -= 1;
    sent.outcome = 'rejected';
  }

  private confirm(isConfirmed: boolean): void {
    this.isConfirmed = isConfirmed;
    const few = isConfirmed ? 0 : WHILE_FEW / this.rejections;
    this.silenceMs = (SILENCE + few) * this.tookMs;
  }

  /**
   * Milliseconds until silence shows one more attempt to be accepted; Infinity if there is none, or
   * no horizon.
   */
  nextMs(now: number): number {
    const next = this.attempts[this.asked];
    if (next === undefined) return Number.POSITIVE_INFINITY;
    const isPresumed = this.rejections === 0 && next.at <= this.answeredAt;
    return next.at + (isPresumed ? PRESUMED_MS : this.silenceMs) - now;
  }

  /** Calls the listener for all results that are known by now. */
  advance(now: number): void {
    while (this.nextMs(now) < 0) {
      const next = this.attempts[this.asked];
      this.asked += 1;
      if (next !== undefined) this.accept(next);
    }
    for (;;) {
      const next = this.attempts[this.head];
      if (next === undefined || next.outcome === 'unknown') break;
      this.head += 1;
      this.settledCount = next.order + 1;
      this.listener.settled(next);
    }
    this.asked = Math.max(this.asked, this.head);
    if (this.head < CHUNK) return;
    this.attempts = this.attempts.slice(this.head);
    this.asked -= this.head;
    this.head = 0;
  }
}

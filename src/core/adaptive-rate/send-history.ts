import type { SentAttempt } from './sent-attempt.ts';

/** An attempt counts as accepted once so many times what rejections take have passed in silence. */
const SILENCE = 1.3;
/** While no answer shows that anything is let in: so much more, the less the more rejections were seen. */
const WHILE_FEW = 4;
/** What rejections take is forgotten this slowly. */
const FORGETS = 1 / 32;
/** Settled attempts are dropped in chunks. */
const CHUNK = 4_096;

/** Told of each attempt once. */
export interface SendHistoryListener {
  /** It is known to be accepted: answered, or not rejected for long enough. In any order. */
  accepted(sent: SentAttempt): void;
  /** It, and all that were sent before it, are known. In the order of sending. */
  settled(sent: SentAttempt): void;
}

/**
 * What was sent, in order, and what became of it. Answers come back in any order, and rejections may
 * take longer or shorter than they: only in the order of sending do they tell how much was let in.
 */
export class SendHistory {
  private readonly listener: SendHistoryListener;
  private sent: SentAttempt[] = [];
  /** The first that is not settled. */
  private head = 0;
  /** The first that silence has not been asked about. */
  private asked = 0;
  private silenceMs = Number.POSITIVE_INFINITY;
  private _unknown = 0;
  /** What rejections take, the slow ones of late, in ms; and how many tell of it. */
  private tookMs = 0;
  private rejections = 0;
  /** Whether an answer has shown, since the first rejection, that something is let in. */
  private isConfirmed = false;

  constructor(listener: SendHistoryListener) {
    this.listener = listener;
  }

  /** Attempts of which nothing is known yet. */
  get unknown(): number {
    return this._unknown;
  }

  /** After so long without a rejection an attempt counts as accepted, in ms; Infinity before the first. */
  get horizonMs(): number {
    return this.silenceMs;
  }

  add(sent: SentAttempt): void {
    this.sent.push(sent);
    this._unknown += 1;
  }

  /**
   * @param isAnswered false: only silence tells of it
   * @returns whether that is news: it may have counted as accepted already
   */
  accept(sent: SentAttempt, isAnswered = true): boolean {
    if (isAnswered && this.rejections > 0 && !this.isConfirmed) this.confirm(true);
    if (sent.outcome !== 'unknown') return false;
    sent.outcome = 'accepted';
    this._unknown -= 1;
    this.listener.accepted(sent);
    return true;
  }

  /** It tells nothing. */
  withdraw(sent: SentAttempt): void {
    if (sent.outcome !== 'unknown') return;
    sent.outcome = 'withdrawn';
    this._unknown -= 1;
  }

  reject(sent: SentAttempt, now: number): void {
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

  /** Milliseconds until silence tells of one more attempt; Infinity: there is none, or no horizon. */
  nextMs(now: number): number {
    const next = this.sent[this.asked];
    return next === undefined ? Number.POSITIVE_INFINITY : next.at + this.silenceMs - now;
  }

  /** Tells the listener of all that is known by now. */
  advance(now: number): void {
    while (this.nextMs(now) < 0) {
      const next = this.sent[this.asked];
      this.asked += 1;
      if (next !== undefined) this.accept(next, false);
    }
    for (;;) {
      const next = this.sent[this.head];
      if (next === undefined || next.outcome === 'unknown') break;
      this.head += 1;
      this.listener.settled(next);
    }
    this.asked = Math.max(this.asked, this.head);
    if (this.head < CHUNK) return;
    this.sent = this.sent.slice(this.head);
    this.asked -= this.head;
    this.head = 0;
  }
}

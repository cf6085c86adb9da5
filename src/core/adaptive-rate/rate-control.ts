import { checkNumber } from '../../model/check.ts';
import type { Random } from '../../model/clock.ts';
import type { ReportedLimit, Verdict } from '../../model/feedback.ts';
import type { SentAttempt } from './attempt.ts';
import { Dimension, type Past } from './dimension.ts';
import { Outage } from './outage.ts';
import { type RateSnapshot, snapshotOf } from './rate-snapshot.ts';
import { shortestOf } from './shortest-limit.ts';
import { TokenRatio } from './token-ratio.ts';

/** Requests a second at first, where nothing is known of a provider. */
export const DEFAULT_START_PER_SECOND = 10;
/** The least of it that makes sense: a request in a quarter of an hour. */
export const LEAST_START_PER_SECOND = 0.001;
/** The rate to start from after a rejection before which nothing was accepted. */
const FALLBACK_PER_MS = 2 / 1_000;
/** The least that can be learned: a request in half a minute. */
const FLOOR_PER_MS = 1 / 30_000;
/** A rate that bounds nothing. */
const NONE = Number.POSITIVE_INFINITY;
/** How long a rate is good for without being asked again: it changes while one waits. */
const REASK_MS = 1_000;
/** After a rejection that names no wait, the longest that the next waits. */
const MOST_PAUSE_MS = 1_000;
/** The shortest time that lets a turn end. */
const TURN_MS = 1;
/** Of a bucket that was configured, what may be sent at once is this part, and no more than in so long. */
const SAVED_PART = 0.5;
const MOST_SAVED_MS = 1_000;
/** Requests differ in tokens: what a large one has held up may follow it at once. */
const TOKEN_BURST_MS = 3_000;

/** An attempt that is out. */
export interface Sending extends SentAttempt {
  /** The same, counted in tokens; undefined: nothing counts them. */
  readonly tokens: SentAttempt | undefined;
  /** Tokens that were estimated. */
  readonly estimate: number;
}

/** The rates of limits that were configured, per ms; Infinity: there is none. */
export type HardRates = (unit: 'requests' | 'tokens') => number;

/** How long a bucket that was configured saves what is not used, in ms; 0: there is none. */
export type HardSavings = (unit: 'requests' | 'tokens') => number;

/** What a rate starts from. */
export interface RateRules {
  /** Requests a second at first; Infinity: no bound until something is known. */
  readonly startPerSecond: number;
  readonly hard: HardRates;
  readonly saves: HardSavings;
  /** Longest wait that a provider may ask for. */
  readonly maxRetryAfterMs: number;
  readonly random: Random;
}

/** @throws RangeError or TypeError that names the option */
export function checkStartPerSecond(startPerSecond: number): number {
  return checkNumber('startPerSecond', startPerSecond, LEAST_START_PER_SECOND);
}

/**
 * Keeps a provider full without rejections: finds the rate at which attempts may be sent, of the
 * limits that were configured, of those that answers report, and of what rejections tell.
 */
export class RateControl {
  readonly #hard: HardRates;
  readonly #maxRetryAfterMs: number;
  readonly #outage: Outage;
  readonly #requests: Dimension;
  #tokens: Dimension | undefined = undefined;
  readonly #ratio = new TokenRatio();
  #acceptedAtRejection = -1;
  #closedUntil = Number.NEGATIVE_INFINITY;
  #isOverloaded = false;

  constructor(rules: RateRules, past: Past) {
    const { startPerSecond, hard, saves, maxRetryAfterMs, random } = rules;
    this.#hard = hard;
    this.#maxRetryAfterMs = maxRetryAfterMs;
    const countsTokens = hard('tokens') !== NONE;
    // Who says what the limits are need not feel for them.
    const startPerMs = countsTokens ? NONE : startPerSecond / 1_000;
    const hardRequests = () => hard('requests');
    const burstMs = Math.min(MOST_SAVED_MS, SAVED_PART * saves('requests'));
    const rates = [startPerMs, FALLBACK_PER_MS, FLOOR_PER_MS] as const;
    this.#requests = new Dimension(...rates, past, hardRequests, burstMs);
    this.#outage = new Outage(random, (ms, at) => this.#outEnded(ms, at));
    if (countsTokens) this.#countTokens(past.since);
  }

  /** Whether the provider lets nothing in. */
  get isOut(): boolean {
    return this.#outage.isOn;
  }

  /** Requests a second, as of the last time that somebody asked. */
  get perSecond(): number {
    return this.#requests.ratePerMs * 1_000;
  }

  /** Whether tokens count: else nobody need estimate them. */
  get countsTokens(): boolean {
    return this.#tokens !== undefined;
  }

  /** Milliseconds until the next attempt may go, or this is to be asked again. */
  wait(now: number): number {
    const outMs = this.#outage.wait(now);
    if (outMs > 0 || this.#outage.isOn) return outMs;
    if (now < this.#closedUntil) return this.#closedUntil - now;
    const requestsMs = this.#requests.wait(now);
    const tokensMs = this.#tokens?.wait(now) ?? 0;
    this.#requests.isBound = requestsMs > 0 && requestsMs >= tokensMs;
    if (this.#tokens !== undefined) this.#tokens.isBound = tokensMs > requestsMs;
    return Math.min(Math.max(requestsMs, tokensMs), REASK_MS);
  }

  /** @param estimate tokens that it may cost */
  take(estimate: number, now: number): Sending {
    const tokens = this.#tokens?.take(this.#ratio.expected(estimate), now);
    const sent = this.#requests.take(1, now);
    this.#outage.sent(sent.order, now);
    return { ...sent, tokens, estimate };
  }

  /** Of an attempt that was sent before anything was counted. @param order those sent before it */
  early(order: number, at: number): Sending {
    return { at, order, total: order, cost: 1, isPaced: false, tokens: undefined, estimate: 0 };
  }

  /** It was answered. @param used tokens, as far as that is known */
  accepted(sending: Sending, verdict: Verdict, used: number | undefined, now: number): void {
    this.#outage.accepted(sending.order, now);
    if (used !== undefined) this.#settle(sending, used);
    this.#read(verdict.limits, sending, true, now);
  }

  /**
   * It was turned away: as too much (`throttled`), or for want of power (`overloaded`).
   * @param isCap whether it was too many at once, which is no matter of rate
   * @returns whether the rate is new
   */
  rejected(sending: Sending, verdict: Verdict, now: number, isCap = false): boolean {
    const { kind, limits, limit } = verdict;
    this.#read(limits, sending, false, now);
    this.#isOverloaded = kind === 'overloaded' || isCap;
    const accepted = this.#requests.acceptedBefore(sending);
    const isInRow = accepted - this.#acceptedAtRejection < 1;
    this.#acceptedAtRejection = accepted;
    const { retryAfterMs } = verdict;
    const tells = retryAfterMs !== undefined;
    const waitMs = Math.min(retryAfterMs ?? 0, this.#maxRetryAfterMs);
    if (tells) this.#closedUntil = Math.max(this.#closedUntil, now + waitMs);
    if (isCap) this.#requests.full(sending, now);
    const isNew = !this.#isOverloaded && this.#congested(sending, limit, waitMs, now);
    const sent = this.#requests.sentAttempts;
    // Where too many are in at once, nobody else is let in for as long as these take.
    if (!isCap || this.isOut) this.#outage.rejected(sending, isInRow, sent, now, tells);
    this.#lost(sending, false);
    if (!tells) this.#requests.pause(MOST_PAUSE_MS, now);
    return isNew;
  }

  /** Nobody goes in this very turn: who was turned away in it might be so again, and again. */
  rest(now: number): void {
    this.#closedUntil = Math.max(this.#closedUntil, now + TURN_MS);
  }

  /** Rejections have turned out to be a matter of rate. */
  restart(now: number): void {
    this.#requests.restart(now);
  }

  /** It has ended without an answer that says anything. @param isSent whether it was sent at all */
  ended(sending: Sending, isSent: boolean, now: number): void {
    if (!isSent) this.#lost(sending, true);
    this.#outage.withdrawn(sending.order, now);
  }

  snapshot(now: number): RateSnapshot {
    const { lastCutAt } = this.#requests;
    return {
      ...snapshotOf(this.#requests),
      tokens: this.#tokens && snapshotOf(this.#tokens),
      isOut: this.isOut,
      sinceCutMs: lastCutAt === undefined ? undefined : now - lastCutAt,
    };
  }

  /** Which of the two was used up: as the answer says, else requests. */
  #congested(
    sending: Sending,
    limit: string | undefined,
    retryAfterMs: number,
    now: number,
  ): boolean {
    if (limit === undefined || !/token/i.test(limit)) {
      return this.#requests.rejected(sending, now, retryAfterMs);
    }
    this.#countTokens(now);
    if (sending.tokens === undefined) return false;
    return this.#tokens?.rejected(sending.tokens, now, retryAfterMs) === true;
  }

  #read(
    limits: readonly ReportedLimit[] | undefined,
    sending: Sending,
    isAccepted: boolean,
    now: number,
  ): void {
    if (limits === undefined) return;
    const requests = shortestOf(limits, 'requests');
    if (requests !== undefined) this.#requests.reported(requests, sending, isAccepted, now);
    const tokens = shortestOf(limits, 'tokens');
    if (tokens === undefined) return;
    this.#countTokens(now);
    const inTokens = sending.tokens;
    if (inTokens !== undefined) this.#tokens?.reported(tokens, inTokens, isAccepted, now);
  }

  #settle({ tokens, estimate }: Sending, used: number): void {
    if (tokens === undefined || this.#tokens === undefined) return;
    this.#tokens.settle(tokens, used);
    this.#ratio.measured(estimate, used);
  }

  #lost(sending: Sending, isUnsent: boolean): void {
    this.#requests.lost(sending, isUnsent);
    if (sending.tokens !== undefined) this.#tokens?.lost(sending.tokens, isUnsent);
  }

  #countTokens(now: number): void {
    const past = { sent: 0, since: now };
    const hard = () => this.#hard('tokens');
    this.#tokens ??= new Dimension(NONE, NONE, FLOOR_PER_MS, past, hard, TOKEN_BURST_MS);
  }

  /** An overload is no matter of rate: the time that it took is left out. */
  #outEnded(lastedMs: number, at: number): void {
    if (!this.#isOverloaded) return;
    this.#requests.skip(lastedMs, at);
    this.#tokens?.skip(lastedMs, at);
  }
}

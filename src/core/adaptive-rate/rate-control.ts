import { checkNumber } from '../../model/check.ts';
import type { Random } from '../../model/clock.ts';
import type { LimitUnit, ReportedLimit, Verdict } from '../../model/feedback.ts';
import type { SentAttempt } from './attempt.ts';
import { Dimension, type Past, type RateOrigin } from './dimension.ts';
import { Outage } from './outage.ts';

/** Requests a second at first, where nothing is known of a provider. */
export const DEFAULT_START_PER_SECOND = 2;
/** The least of it that makes sense: a request in a quarter of an hour. */
export const LEAST_START_PER_SECOND = 0.001;
/** After a rejection, as long as nothing was accepted: the rate at first, were nothing known. */
const FALLBACK_PER_MS = DEFAULT_START_PER_SECOND / 1_000;
/** The least that can be learned: a request in half a minute. */
const FLOOR_PER_MS = 1 / 30_000;
/** What a longer window allows may be used at once. */
const LONGEST_WINDOW_MS = 3_600_000;
/** How long a rate is good for without being asked again: it changes while one waits. */
const REASK_MS = 1_000;
/** After a rejection that names no wait, the longest that the next waits. */
const MOST_PAUSE_MS = 1_000;
/** What each further measurement leaves of the earlier ones of the ratio of real tokens to estimated. */
const RATIO_MEMORY = 0.98;

/** An attempt that is out. */
export interface Sending extends SentAttempt {
  /** The same, counted in tokens; undefined: nothing counts them. */
  readonly tokens: SentAttempt | undefined;
  /** Tokens that were estimated. */
  readonly estimate: number;
}

/** The rates of limits that were configured, per ms; Infinity: there is none. */
export type HardRates = (unit: 'requests' | 'tokens') => number;

export interface RateSnapshot {
  /** Requests a second that may be sent; Infinity: nothing bounds them yet. */
  readonly perSecond: number;
  readonly origin: RateOrigin;
  /** What the provider accepted at the last congestion; undefined before the first. */
  readonly ceilingPerSecond: number | undefined;
  /** The same for tokens; undefined where nothing counts them. */
  readonly tokens:
    | {
        readonly perSecond: number;
        readonly origin: RateOrigin;
        readonly ceilingPerSecond: number | undefined;
      }
    | undefined;
  /** Whether the provider lets nothing in, and single probes go. */
  readonly isOut: boolean;
  /** Since the rate was last measured anew; undefined: it never was. */
  readonly sinceCutMs: number | undefined;
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
  readonly #outage: Outage;
  readonly #requests: Dimension;
  #tokens: Dimension | undefined = undefined;
  /** Of attempts that have told what they used. */
  #estimated = 0;
  #used = 0;
  #acceptedAtRejection = -1;
  #closedUntil = Number.NEGATIVE_INFINITY;
  #isOverloaded = false;

  /** @param startPerSecond requests a second at first; Infinity: no bound until something is known */
  constructor(startPerSecond: number, hard: HardRates, random: Random, past: Past) {
    this.#hard = hard;
    // Who says what the limits are need not feel for them.
    const start =
      hard('tokens') === Number.POSITIVE_INFINITY
        ? startPerSecond / 1_000
        : Number.POSITIVE_INFINITY;
    this.#requests = new Dimension(start, FALLBACK_PER_MS, FLOOR_PER_MS, past, () =>
      hard('requests'),
    );
    this.#outage = new Outage(random, (ms, at) => this.#outEnded(ms, at));
    if (hard('tokens') !== Number.POSITIVE_INFINITY) this.#countTokens(past.since);
  }

  /** Whether the provider lets nothing in. */
  get isOut(): boolean {
    return this.#outage.isOn;
  }

  /** Requests a second, as of the last time that somebody asked. */
  get perSecond(): number {
    return this.#requests.ratePerMs * 1_000;
  }

  get origin(): RateOrigin {
    return this.#requests.origin;
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
    const tokens = this.#tokens?.take(this.#expected(estimate), now);
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

  /** It was turned away: as too much (`throttled`), or for want of power (`overloaded`). */
  rejected(sending: Sending, verdict: Verdict, now: number): boolean {
    const { retryAfterMs, kind } = verdict;
    this.#read(verdict.limits, sending, false, now);
    this.#isOverloaded = kind === 'overloaded';
    const accepted = this.#requests.acceptedBefore(sending);
    const isInRow = accepted - this.#acceptedAtRejection < 1;
    this.#acceptedAtRejection = accepted;
    if (retryAfterMs !== undefined) {
      this.#closedUntil = Math.max(this.#closedUntil, now + retryAfterMs);
    }
    const isNew = kind === 'throttled' && this.#congested(sending, verdict, now);
    const sent = this.#requests.sentAttempts;
    this.#outage.rejected(sending, isInRow, sent, now, retryAfterMs !== undefined);
    this.#lost(sending, false);
    if (retryAfterMs === undefined) this.#requests.pause(MOST_PAUSE_MS, now);
    return isNew;
  }

  /** It has ended without an answer that says anything. @param isSent whether it was sent at all */
  ended(sending: Sending, isSent: boolean, now: number): void {
    if (!isSent) this.#lost(sending, true);
    this.#outage.withdrawn(sending.order, now);
  }

  snapshot(now: number): RateSnapshot {
    const { lastCutAt } = this.#requests;
    return {
      ...stateOf(this.#requests),
      tokens: this.#tokens && stateOf(this.#tokens),
      isOut: this.isOut,
      sinceCutMs: lastCutAt === undefined ? undefined : now - lastCutAt,
    };
  }

  /** Which of the two was used up: as the answer says, else requests. */
  #congested(sending: Sending, { limit, retryAfterMs = 0 }: Verdict, now: number): boolean {
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
    this.#estimated = this.#estimated * RATIO_MEMORY + estimate;
    this.#used = this.#used * RATIO_MEMORY + used;
  }

  /** An estimate, as much larger or smaller as the last ones should have been. */
  #expected(estimate: number): number {
    return this.#estimated > 0 ? (estimate * this.#used) / this.#estimated : estimate;
  }

  #lost(sending: Sending, isUnsent: boolean): void {
    this.#requests.lost(sending, isUnsent);
    if (sending.tokens !== undefined) this.#tokens?.lost(sending.tokens, isUnsent);
  }

  #countTokens(now: number): void {
    const { POSITIVE_INFINITY } = Number;
    this.#tokens ??= new Dimension(
      POSITIVE_INFINITY,
      POSITIVE_INFINITY,
      FLOOR_PER_MS,
      { sent: 0, since: now },
      () => this.#hard('tokens'),
    );
  }

  /** An overload is no matter of rate: the time that it took is left out. */
  #outEnded(lastedMs: number, at: number): void {
    if (!this.#isOverloaded) return;
    this.#requests.skip(lastedMs, at);
    this.#tokens?.skip(lastedMs, at);
  }
}

/** Of several limits on one thing the one with the shortest window: that of a day paces nobody. */
function shortestOf(limits: readonly ReportedLimit[], unit: LimitUnit): ReportedLimit | undefined {
  let shortest: ReportedLimit | undefined;
  for (const limit of limits) {
    if (limit.unit !== unit || windowOf(limit) > LONGEST_WINDOW_MS) continue;
    if (shortest === undefined || windowOf(limit) < windowOf(shortest)) shortest = limit;
  }
  return shortest;
}

/** 0: not told. */
function windowOf({ windowMs = 0 }: ReportedLimit): number {
  return windowMs;
}

function stateOf({ ratePerMs, origin, ceilingPerMs }: Dimension) {
  return {
    perSecond: ratePerMs * 1_000,
    origin,
    ceilingPerSecond: ceilingPerMs === undefined ? undefined : ceilingPerMs * 1_000,
  };
}

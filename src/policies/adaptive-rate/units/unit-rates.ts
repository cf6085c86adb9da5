import type { ReportedLimit } from '../../../model/feedback.ts';
import type { SentAttempt, UnitCharge } from '../attempts/sent-attempt.ts';
import type { KnownLimit } from '../reported/report.ts';
import { OtherLimits } from './other-limits.ts';
import { shortestOf } from './shortest-limit.ts';
import { TokenRatio } from './token-ratio.ts';
import { UnitRate } from './unit-rate.ts';

/** The limits that were configured, by their units. */
export interface HardLimits {
  /** The rate of the limit on a unit, per ms; Infinity if there is none. */
  perMs(unit: 'requests' | 'tokens'): number;
  /** The largest burst of requests that a limit permits. */
  burst(): number;
  /** Whether an attempt that is sent now tests the end of a configured window. */
  isTest?(now: number): boolean | undefined;
}

/** What reports have shown about limits, by unit, as JSON; null: there is no limit on tokens. */
export interface KnownLimits {
  readonly requests: KnownLimit;
  readonly tokens: KnownLimit | null;
}

function usedOf({ limit = 0, remaining = limit }: Partial<ReportedLimit> = {}): number {
  return limit - remaining;
}

/** The charges of an attempt, by unit. */
export type Charges = Pick<SentAttempt, 'requests' | 'tokens'>;

/**
 * The rates of both units that providers limit: requests, and tokens once a limit on them is known.
 */
export class UnitRates {
  readonly requests: UnitRate;
  tokens: UnitRate | undefined = undefined;
  readonly #hard: HardLimits;
  readonly #ratio = new TokenRatio();
  readonly #others = new OtherLimits();
  /** The attempts that were sent before the limit on tokens was known. */
  #early = { count: 0, cost: 0 };

  constructor(hard: HardLimits) {
    this.#hard = hard;
    this.requests = new UnitRate(() => hard.perMs('requests'));
    if (hard.perMs('tokens') !== Number.POSITIVE_INFINITY) this.tokens = this.#tokenRate();
  }

  /** The rate of tokens where estimates are not corrected, as in other processes, per ms. */
  get estimatedTokensPerMs(): number {
    return (this.tokens?.perMs ?? Number.POSITIVE_INFINITY) / this.#ratio.expected(1);
  }

  /**
   * Computes the rates anew.
   * @param learnedPerMs the rate learned from rejections; Infinity if there is none
   * @param estimate the estimated tokens of the next attempt
   * @returns milliseconds until it may be sent
   */
  wait(learnedPerMs: number, estimate: number, now: number): number {
    const requestsMs = this.requests.wait(learnedPerMs, now);
    const cost = this.#ratio.expected(estimate);
    const tokensMs = this.tokens?.wait(Number.POSITIVE_INFINITY, now, cost) ?? 0;
    return Math.max(requestsMs, tokensMs);
  }

  /** Whether the next attempt has to wait for the pace. */
  isPacing(now: number): boolean {
    return this.requests.isPacing(now) || (this.tokens?.isPacing(now) ?? false);
  }

  /** The number of requests that reported limits permit at once. */
  left(now: number): number {
    const cost = Math.max(1, this.#ratio.expected(0));
    const tokens = this.tokens?.left(now) ?? Number.POSITIVE_INFINITY;
    return Math.min(this.requests.left(now), tokens / cost);
  }

  /** The most requests that a reported or configured limit permits at once. */
  burst(now: number): number {
    return Math.max(this.requests.reportedLimit(now), this.#hard.burst());
  }

  /** Milliseconds until the reported limits permit an attempt. */
  heldMs(now: number): number {
    return Math.max(this.requests.heldMs(now), this.tokens?.heldMs(now) ?? 0);
  }

  /** Whether a reported limit is known to admit requests before it is full again. */
  refillsGradually(limit: ReportedLimit): boolean {
    const { unit } = limit;
    const rate = unit === 'requests' || unit === 'tokens' ? this[unit] : undefined;
    return this.#others.refillsGradually(limit) ?? rate?.refillsGradually ?? false;
  }

  /** There was no demand before the next attempt. */
  resumed(now: number): void {
    this.requests.resumed(now);
    this.tokens?.resumed(now);
  }

  /** @param savedMs how much unused time may be used at once */
  take(estimate: number, now: number, savedMs: number): Charges {
    const { tokens } = this;
    return {
      tokens: tokens?.take(this.#ratio.expected(estimate), now, tokens.unusedMs(now)),
      requests: this.requests.take(1, now, savedMs),
    };
  }

  /** @param used the tokens that an attempt really cost */
  settle(sent: SentAttempt, used: number): void {
    this.#ratio.measured(sent.estimate, used);
    const tokens = this.#tokensOf(sent);
    if (tokens !== undefined) this.tokens?.settle(tokens, used);
  }

  /** The attempt was not accepted. @param isUnsent whether it was never sent */
  reject(charges: Charges, isUnsent: boolean): void {
    const { requests } = charges;
    const tokens = this.#tokensOf(charges);
    if (requests !== undefined) this.requests.reject(requests, isUnsent);
    if (tokens !== undefined) this.tokens?.reject(tokens, isUnsent);
  }

  /** @returns whether the limits that an answer reports explain a rejection */
  report(
    limits: readonly ReportedLimit[],
    charges: Charges,
    isAccepted: boolean,
    now: number,
  ): boolean {
    const { requests } = charges;
    let isExplained = false;
    const ofRequests = shortestOf(limits, 'requests');
    const ofTokens = shortestOf(limits, 'tokens');
    if (isAccepted) {
      if (ofRequests === undefined) this.requests.missing(requests?.at ?? now);
      if (ofTokens === undefined) this.tokens?.missing(charges.tokens?.at ?? now);
    }
    if (limits.length === 0) return false;
    if (ofRequests !== undefined && requests !== undefined) {
      isExplained = this.requests.report(ofRequests, requests, isAccepted, now);
    }
    for (const limit of limits) {
      const isOther = limit !== ofRequests && limit !== ofTokens;
      if (isOther) this.#others.report(limit, requests?.at ?? now, now);
    }
    if (ofTokens === undefined) return isExplained;
    if (this.tokens === undefined) {
      const { count, sent } = this.requests;
      const cost = this.#costOf(limits);
      this.#early = { count, cost };
      this.tokens = this.#tokenRate(count, sent * cost);
    }
    const tokens = this.#tokensOf(charges);
    if (tokens === undefined) return isExplained;
    return this.tokens.report(ofTokens, tokens, isAccepted, now) || isExplained;
  }

  /** What reports have shown about the limits, for another learner. */
  get known(): KnownLimits {
    return { requests: this.requests.known, tokens: this.tokens?.known ?? null };
  }

  /** Continues with limits that were reported to another learner. */
  continue(limits: readonly ReportedLimit[], known: KnownLimits, at: number): void {
    for (const unit of ['requests', 'tokens'] as const) {
      const limit = shortestOf(limits, unit);
      const ofLimit = known[unit];
      if (limit === undefined || ofLimit === null) continue;
      if (unit === 'tokens') this.tokens ??= this.#tokenRate();
      this[unit]?.continue(limit, ofLimit, at);
    }
  }

  /** The number of requests that the limits in an answer leave; undefined if they do not say. */
  leftBy(limits: readonly ReportedLimit[]): number | undefined {
    const requests = shortestOf(limits, 'requests')?.remaining;
    const tokens = shortestOf(limits, 'tokens')?.remaining;
    const cost = this.#costOf(limits);
    if (requests === undefined || tokens === undefined || cost === 0) return requests;
    return Math.min(requests, tokens / cost);
  }

  /**
   * The tokens of a usual request: as measured, or as these limits count those that were sent before
   * any usage was reported; 0 if neither is known.
   */
  #costOf(limits: readonly ReportedLimit[]): number {
    const measured = this.#ratio.expected(0);
    if (measured > 0) return measured;
    const requests = usedOf(shortestOf(limits, 'requests'));
    return requests > 0 ? usedOf(shortestOf(limits, 'tokens')) / requests : 0;
  }

  /** An attempt that was sent before the limit on tokens was known counts as a usual one. */
  #tokensOf({ requests, tokens }: Charges): UnitCharge | undefined {
    const { count, cost } = this.#early;
    if (tokens !== undefined || requests === undefined || requests.order >= count) return tokens;
    const { at, order, total } = requests;
    return { at, order, total: total * cost, cost, isOwed: false };
  }

  #tokenRate(count = 0, sent = 0): UnitRate {
    return new UnitRate(() => this.#hard.perMs('tokens'), count, sent);
  }
}

import type { ReportedLimit } from '../../../model/feedback.ts';
import type { Amounts } from '../../../model/ticket.ts';
import type { Charges, SentAttempt } from '../attempts/sent-attempt.ts';
import type { KnownLimit } from '../reported/report.ts';
import type { HardLimits } from './hard-limits.ts';
import { LimitedUnit } from './limited-unit.ts';
import { OtherLimits } from './other-limits.ts';
import { shortestOf } from './shortest-limit.ts';
import { TokenRatio } from './token-ratio.ts';
import type { UnitRate } from './unit-rate.ts';

/** What reports have shown about limits, by unit, as JSON; null: there is no limit on tokens. */
export interface KnownLimits {
  readonly requests: KnownLimit;
  readonly tokens: KnownLimit | null;
}

type Sent = Pick<SentAttempt, 'charges' | 'estimate'>;

/**
 * The rates of the units that providers limit: requests, and tokens once a limit on them is known.
 */
export class UnitRates {
  readonly requests: UnitRate;
  readonly #hard: HardLimits;
  /** The tokens of requests, beside their estimates. */
  readonly ratio = new TokenRatio();
  readonly #tokens = new LimitedUnit('tokens', 1, this.ratio);
  readonly #units: readonly LimitedUnit[];
  /** Requests, and the units of tokens in which a limit is known. */
  readonly #limited: LimitedUnit[] = [];
  readonly #rates: UnitRate[] = [];
  readonly #others = new OtherLimits();

  /** @param areParts whether the usage of answers says how many tokens are input and output */
  constructor(hard: HardLimits, areParts = true) {
    this.#hard = hard;
    const requests = new LimitedUnit('requests', 0);
    const parts = [new LimitedUnit('input-tokens', 2), new LimitedUnit('output-tokens', 3)];
    this.#units = [requests, this.#tokens, ...(areParts ? parts : [])];
    this.requests = this.#begin(requests);
    if (hard.perMs('tokens') !== Number.POSITIVE_INFINITY) this.#begin(this.#tokens);
  }

  /** The rate of input and output tokens together; undefined if no limit on them is known. */
  get tokens(): UnitRate | undefined {
    return this.#tokens.rate;
  }

  /** Whether a limit on tokens is known. */
  get countTokens(): boolean {
    return this.#limited.length > 1;
  }

  /** Whether a limit on input or output tokens alone is known. */
  get countParts(): boolean {
    return this.#limited.some(({ isPart }) => isPart);
  }

  /** The rate of tokens where estimates are not corrected, as in other processes, per ms. */
  get estimatedTokensPerMs(): number {
    return (this.tokens?.perMs ?? Number.POSITIVE_INFINITY) / this.#tokens.expected(1);
  }

  /**
   * Computes the rates anew.
   * @param learnedPerMs the rate learned from rejections; Infinity if there is none
   * @param estimate the estimated tokens of the next attempt
   * @returns milliseconds until it may be sent
   */
  wait(learnedPerMs: number, estimate: number, now: number): number {
    let waitMs = 0;
    for (const unit of this.#limited) {
      waitMs = Math.max(waitMs, unit.wait(learnedPerMs, estimate, now));
    }
    return waitMs;
  }

  /** Whether the next attempt has to wait for the pace. */
  isPacing(now: number): boolean {
    return this.#rates.some((rate) => rate.isPacing(now));
  }

  /** The number of requests that the limits in an answer leave; undefined if they do not say. */
  leftBy(limits: readonly ReportedLimit[]): number | undefined {
    const left = Math.min(...this.#units.map((unit) => unit.leftBy(limits)));
    return left === Number.POSITIVE_INFINITY ? undefined : left;
  }

  /** The most requests that a reported or configured limit permits at once. */
  burst(now: number): number {
    return Math.max(this.requests.reported.fresh(now)?.limit ?? 0, this.#hard.burst());
  }

  /** Whether a reported limit is known to admit requests before it is full again. */
  refillsGradually(limit: ReportedLimit): boolean {
    const { rate } = this.#limited.find(({ unit }) => unit === limit.unit) ?? {};
    return this.#others.refillsGradually(limit) ?? rate?.reported.refillsGradually ?? false;
  }

  /** There was no demand before the next attempt. */
  resumed(now: number): void {
    for (const rate of this.#rates) rate.resumed(now);
  }

  /** @param savedMs how much unused time requests may use at once */
  take(estimate: number, now: number, savedMs: number): Charges {
    if (!this.countTokens) return [this.requests.take(1, now, savedMs)];
    return this.#units.map((unit) => unit.take(estimate, now, savedMs));
  }

  /** @param used what an attempt really cost */
  settle({ charges, estimate }: Sent, used: Amounts): void {
    for (const unit of this.#units) unit.settle(charges, estimate, used);
  }

  /** The attempt was not accepted. @param isUnsent whether it was never sent */
  reject(charges: Charges, isUnsent: boolean): void {
    for (const unit of this.#limited) {
      const charge = unit.chargeOf(charges);
      if (charge !== undefined) unit.rate?.reject(charge, isUnsent);
    }
  }

  /** @returns whether the limits that an answer reports explain a rejection */
  report(
    limits: readonly ReportedLimit[],
    charges: Charges,
    isAccepted: boolean,
    now: number,
  ): boolean {
    const others = new Set(limits);
    let isExplained = false;
    for (const unit of this.#units) {
      const limit = shortestOf(limits, unit.unit);
      if (limit !== undefined) others.delete(limit);
      const rate = unit.rate ?? (limit && this.#begin(unit, unit.costBy(limits)));
      if (rate?.report(limit, unit.chargeOf(charges), isAccepted, now)) isExplained = true;
    }
    for (const limit of others) this.#others.report(limit, charges[0]?.at ?? now, now);
    return isExplained;
  }

  /** What reports have shown about the limits, for another learner. */
  get known(): KnownLimits {
    return { requests: this.requests.reported.known, tokens: this.tokens?.reported.known ?? null };
  }

  /** Continues with limits that were reported to another learner. */
  continue(limits: readonly ReportedLimit[], known: KnownLimits, at: number): void {
    for (const unit of ['requests', 'tokens'] as const) {
      const limit = shortestOf(limits, unit);
      const ofLimit = known[unit];
      if (limit === undefined || ofLimit === null) continue;
      const rate = this[unit] ?? this.#begin(this.#tokens);
      rate.continue(limit, ofLimit, at);
    }
  }

  /** A limit gets known. @param cost what each request so far counts */
  #begin(unit: LimitedUnit, cost = 0): UnitRate {
    const { count = 0 } = this.requests ?? {};
    const rate = unit.begin(this.#hard, count, cost);
    this.#limited.push(unit);
    this.#rates.push(rate);
    return rate;
  }
}

import type { ReportedLimit } from '../../../model/feedback.ts';
import type { Amounts } from '../../../model/ticket.ts';
import type { Charges, UnitCharge } from '../attempts/sent-attempt.ts';
import type { HardLimits } from './hard-limits.ts';
import { shortestOf } from './shortest-limit.ts';
import { TokenRatio } from './token-ratio.ts';
import { UnitRate } from './unit-rate.ts';

/** The names of amounts in the usage of an answer, by units of tokens. */
const AMOUNTS = {
  tokens: 'tokens',
  'input-tokens': 'inputTokens',
  'output-tokens': 'outputTokens',
} as const;

/** A unit whose limit sets a pace: what requests cost in it, and the rate of its limit. */
export class LimitedUnit {
  readonly unit: 'requests' | keyof typeof AMOUNTS;
  /** Undefined until a limit is known. */
  rate: UnitRate | undefined = undefined;
  readonly #place: number;
  readonly #ratio: TokenRatio;
  /** The attempts that were sent before the limit was known, and what each of them counts. */
  #early = { count: 0, cost: 0 };

  /**
   * @param place the place of its charge among those of an attempt; requests are the first
   * @param ratio what is known of the tokens of requests
   */
  constructor(unit: LimitedUnit['unit'], place: number, ratio = new TokenRatio()) {
    this.unit = unit;
    this.#ratio = ratio;
    this.#place = place;
  }

  /** Whether it counts input or output tokens alone. */
  get isPart(): boolean {
    return this.#place > 1;
  }

  /**
   * The limit gets known.
   * @param hard the configured limits
   * @param count how many attempts were sent before
   * @param cost what each of them counts
   */
  begin(hard: HardLimits, count: number, cost: number): UnitRate {
    const { unit } = this;
    const isHard = unit === 'requests' || unit === 'tokens';
    const hardPerMs = () => (isHard ? hard.perMs(unit) : Number.POSITIVE_INFINITY);
    this.#early = { count, cost };
    this.rate = new UnitRate(hardPerMs, count, count * cost);
    return this.rate;
  }

  /**
   * What a request costs: 1 request, or tokens by its estimate and the usage so far; for an estimate
   * of 0 the usual number. Before any usage is known, tokens are as estimated, and input and output
   * as the first reports show.
   */
  expected(estimate: number): number {
    const { unit } = this;
    if (unit === 'requests') return 1;
    return this.#ratio.expected(estimate) ?? (this.isPart ? this.#early.cost : estimate);
  }

  /**
   * The cost of a usual request: as measured, or as these limits count those that were sent before
   * any usage was reported; 0 if neither is known.
   */
  costBy(limits: readonly ReportedLimit[]): number {
    const expected = this.expected(0);
    if (expected > 0) return expected;
    const requests = usedOf(shortestOf(limits, 'requests'));
    return requests > 0 ? usedOf(shortestOf(limits, this.unit)) / requests : 0;
  }

  /** The number of usual requests that the limits in an answer permit at once. */
  leftBy(limits: readonly ReportedLimit[]): number {
    const { remaining = Number.POSITIVE_INFINITY } = shortestOf(limits, this.unit) ?? {};
    const cost = this.costBy(limits);
    return cost > 0 ? remaining / cost : Number.POSITIVE_INFINITY;
  }

  /** @param learnedPerMs the rate of requests learned from rejections */
  wait(learnedPerMs: number, estimate: number, now: number): number {
    const learned = this.unit === 'requests' ? learnedPerMs : Number.POSITIVE_INFINITY;
    return this.rate?.wait(learned, now, this.expected(estimate)) ?? 0;
  }

  /** @param savedMs how much unused time requests may use at once */
  take(estimate: number, now: number, savedMs: number): UnitCharge | undefined {
    const { rate, unit } = this;
    return rate?.take(
      this.expected(estimate),
      now,
      unit === 'requests' ? savedMs : rate.unusedMs(now),
    );
  }

  /** @param used what an attempt of this estimate really cost */
  settle(charges: Charges, estimate: number, used: Amounts): void {
    const { unit } = this;
    const amount = unit === 'requests' ? undefined : used[AMOUNTS[unit]];
    if (amount === undefined) return;
    this.#ratio.measured(estimate, amount);
    const charge = this.chargeOf(charges);
    if (charge !== undefined) this.rate?.settle(charge, amount);
  }

  /** The charge of an attempt. One that was sent before the limit was known counts as a usual one. */
  chargeOf(charges: Charges): UnitCharge | undefined {
    const [requests] = charges;
    const charge = charges[this.#place];
    const { count, cost } = this.#early;
    if (charge !== undefined || requests === undefined || requests.order >= count) return charge;
    const { at, order, total } = requests;
    return { at, order, total: total * cost, cost, isOwed: false };
  }
}

function usedOf({ limit = 0, remaining = limit }: Partial<ReportedLimit> = {}): number {
  return limit - remaining;
}

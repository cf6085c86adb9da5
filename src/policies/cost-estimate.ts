import type { Amounts } from '../model/ticket.ts';
import type { RequestCost } from './policy.ts';

/** Output tokens that a request is expected to have while no answer is known. */
const FIRST_OUTPUT_TOKENS = 1_000;
/** The least weight of a new answer in the mean cost of answers beyond their input. */
const SMOOTHING = 0.1;
const MILLION = 1e6;

/** The prices of a million tokens. Their defaults are those of `CostBudgetConfig`. */
interface TokenPrices {
  readonly inputPrice?: number;
  readonly cachedPrice?: number;
  readonly outputPrice?: number;
}

/**
 * The money that requests are expected to cost, and that answers have cost. All amounts are in the
 * currency of the prices.
 *
 * The estimate is the request's `costs.cost`; else the price of its tokens, plus the mean price of
 * the output of the last answers.
 */
export class CostEstimate {
  #prices: TokenPrices;
  /** The mean cost of an answer beyond its estimated input. */
  #outputCost: number;
  /** The number of answers in that mean. */
  #answers = 0;

  /** @param prices checked before */
  constructor(prices: TokenPrices) {
    this.#prices = prices;
    this.#outputCost = (FIRST_OUTPUT_TOKENS * (prices.outputPrice ?? 0)) / MILLION;
  }

  /** Whether the prices determine the cost of an answer, so that its usage must be read. */
  get hasPrices(): boolean {
    const { inputPrice, cachedPrice, outputPrice } = this.#prices;
    return inputPrice !== undefined || cachedPrice !== undefined || outputPrice !== undefined;
  }

  /** Continues with other checked prices. The mean cost of answers stays. */
  configure(prices: TokenPrices): void {
    this.#prices = prices;
  }

  /** The least that a request costs: the given cost, or the price of its input. */
  leastOf(request: RequestCost): number {
    return request.costs?.cost ?? this.inputCostOf(request);
  }

  /** The price of the estimated input. */
  inputCostOf({ tokens }: RequestCost): number {
    const { inputPrice = 0 } = this.#prices;
    return inputPrice === 0 ? 0 : (tokens * inputPrice) / MILLION;
  }

  /** @param most the mean cost of earlier answers never raises the estimate above this */
  expectedOf(request: RequestCost, most: number): number {
    return request.costs?.cost ?? Math.min(most, this.inputCostOf(request) + this.#outputCost);
  }

  /** The recorded cost, or the cost by usage and prices; undefined if neither is known. */
  costOf(usage: Amounts): number | undefined {
    if (usage.cost !== undefined) return usage.cost;
    const { inputTokens, outputTokens, cachedTokens = 0 } = usage;
    if (!this.hasPrices || (inputTokens === undefined && outputTokens === undefined)) {
      return undefined;
    }
    const { inputPrice = 0, cachedPrice = inputPrice, outputPrice = 0 } = this.#prices;
    const input = (inputTokens ?? 0) * inputPrice + cachedTokens * cachedPrice;
    return (input + (outputTokens ?? 0) * outputPrice) / MILLION;
  }

  /** An answer has cost this much more than its estimated input. */
  learn(outputCost: number): void {
    this.#answers += 1;
    const weight = Math.max(SMOOTHING, 1 / this.#answers);
    this.#outputCost = Math.max(0, this.#outputCost + weight * (outputCost - this.#outputCost));
  }
}

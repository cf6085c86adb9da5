import { endpointOf } from '../endpoint.ts';
import type { TokenUsage } from '../ledger/result-line.ts';
import type { BatchRequest } from '../request.ts';
import { costOf, type Prices, pricesOf } from './prices.ts';

/** Output tokens that a request is taken to have while nothing else is known. */
const DEFAULT_OUTPUT_TOKENS = 1_000;
/** Answers that a forecast rests on at least. */
const FORECAST_ANSWERS = 20;

/** What is set aside for a request in flight. */
interface Reservation {
  readonly cost: number;
  readonly promptTokens: number;
}

/** Counts what is spent, and what the requests in flight may cost. */
export class Budget {
  spent = 0;
  reserved = 0;
  readonly max: number;
  readonly #prices: Prices | undefined;
  readonly #reservations = new Map<BatchRequest, Reservation>();
  #answers = 0;
  /** Of the prompts that were answered: tokens as estimated, and as the provider counts them. */
  #estimatedTokens = 0;
  #promptTokens = 0;
  #outputTokens = 0;

  /** @param max Infinity: no bound */
  constructor(prices: Prices | undefined, max: number) {
    this.#prices = prices;
    this.max = max;
  }

  get hasPrices(): boolean {
    return this.#prices !== undefined;
  }

  /**
   * Sets aside what a request may cost, unless it might go beyond the bound: its prompt, and as much
   * output as it allows. One that is sent again has its reservation already.
   */
  reserve(request: BatchRequest, promptTokens: number): boolean {
    if (this.#prices === undefined || this.#reservations.has(request)) return true;
    const cost = this.estimate(request, promptTokens * this.#tokenRatio);
    if (this.spent + this.reserved + cost > this.max) return false;
    this.reserved += cost;
    this.#reservations.set(request, { cost, promptTokens });
    return true;
  }

  /** A request has ended. @returns what it cost; null: there is no price, or no usage was told */
  settle(request: BatchRequest, usage: TokenUsage | null): number | null {
    this.release(request, usage);
    const prices = this.#prices && pricesOf(this.#prices, request.body.model);
    if (usage === null || prices === undefined) return null;
    const cost = costOf(prices, usage);
    this.spent += cost;
    this.#answers += 1;
    this.#outputTokens += usage.output_tokens;
    return cost;
  }

  /** What was set aside for a request is free again: a group has no cost beside those of its lines. */
  release(request: BatchRequest, usage: TokenUsage | null): void {
    const reservation = this.#reservations.get(request);
    if (reservation === undefined) return;
    this.reserved -= reservation.cost;
    this.#reservations.delete(request);
    if (this.#reservations.size === 0) this.reserved = 0;
    if (usage === null) return;
    this.#estimatedTokens += reservation.promptTokens;
    this.#promptTokens += usage.input_tokens;
  }

  /** How many times the estimate a prompt really has; estimates are never lowered by it. */
  get #tokenRatio(): number {
    return this.#estimatedTokens === 0
      ? 1
      : Math.max(1, this.#promptTokens / this.#estimatedTokens);
  }

  /** What all requests will have cost, by the mean of those so far; undefined: too early to say. */
  forecast(remaining: number | undefined): number | undefined {
    if (this.#answers < FORECAST_ANSWERS || remaining === undefined) return undefined;
    return this.spent + (this.spent / this.#answers) * remaining;
  }

  estimate({ url, body }: BatchRequest, promptTokens: number): number {
    const prices = this.#prices && pricesOf(this.#prices, body.model);
    if (prices === undefined) return 0;
    const mean = this.#answers === 0 ? undefined : this.#outputTokens / this.#answers;
    const output = endpointOf(url)?.maxOutputOf(body) ?? mean ?? DEFAULT_OUTPUT_TOKENS;
    const usage = { input_tokens: promptTokens, cached_input_tokens: 0, output_tokens: output };
    return costOf(prices, usage);
  }
}

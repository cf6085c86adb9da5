import { endpointOf } from './endpoint.ts';
import { BatchError, fileProblem } from './errors.ts';
import { countAt, isObject, parseJson, readJsonFile } from './json.ts';
import type { TokenUsage } from './ledger/result-line.ts';
import type { BatchRequest } from './request.ts';

const MILLION = 1_000_000;

/** Prices of a million tokens, all in the same currency. */
export interface ModelPrices {
  readonly in: number;
  /** Price of prompt tokens that were read from a cache. Default: as `in`. */
  readonly cached?: number | undefined;
  readonly out: number;
}

/** Prices by model; `*` is for all others. */
export type Prices = Readonly<Record<string, ModelPrices>>;

const FORM = '{"MODEL": {"in": 0.25, "cached": 0.025, "out": 2}}, per million tokens';

/** @throws BatchError that explains the format of a price file */
export function readPriceFile(file: string): Prices {
  let text: string;
  try {
    text = readJsonFile(file);
  } catch (error) {
    throw new BatchError(`--prices ${file}: ${fileProblem(error)}`, { cause: error });
  }
  const prices = parseJson(text);
  if (!isObject(prices)) throw new BatchError(`--prices ${file}: not JSON of the form ${FORM}`);
  const entries = Object.entries(prices).map(([model, price]) => {
    const [input, output] = [countAt(price, 'in'), countAt(price, 'out')];
    if (input === undefined || output === undefined) {
      throw new BatchError(
        `--prices ${file}: the prices of "${model}" are not of the form ${FORM}`,
      );
    }
    return [model, { in: input, cached: countAt(price, 'cached'), out: output }] as const;
  });
  return Object.fromEntries(entries);
}

export function pricesOf(prices: Prices, model: unknown): ModelPrices | undefined {
  if (typeof model === 'string' && Object.hasOwn(prices, model)) return prices[model];
  return prices['*'];
}

function costOf({ in: input, cached = input, out }: ModelPrices, usage: TokenUsage): number {
  const fresh = usage.input_tokens - usage.cached_input_tokens;
  const sum = fresh * input + usage.cached_input_tokens * cached + usage.output_tokens * out;
  return sum / MILLION;
}

/** Output tokens that are assumed for a request while nothing better is known. */
export const DEFAULT_OUTPUT_TOKENS = 1_000;
/** The least number of answers for a forecast. */
const FORECAST_ANSWERS = 20;

/** The money that is reserved for a request in flight. */
interface Reservation {
  readonly cost: number;
  readonly promptTokens: number;
}

/** The cost of earlier runs, and the answers and tokens that it paid for. */
export interface Spent {
  readonly cost: number;
  readonly answers: number;
  readonly outputTokens: number;
}

/** Counts the money that was spent, and the money that requests in flight may cost. */
export class Budget {
  spent = 0;
  reserved = 0;
  readonly max: number;
  readonly #prices: Prices | undefined;
  readonly #reservations = new Map<BatchRequest, Reservation>();
  #answers = 0;
  /** Tokens of the answered prompts: as estimated, and below as the provider counts them. */
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

  /** Continues earlier runs, which show how long answers are. */
  resume({ cost, answers, outputTokens }: Spent): void {
    this.spent = cost;
    this.#answers = answers;
    this.#outputTokens = outputTokens;
  }

  /**
   * Reserves the most that a request may cost: its prompt, and as much output as it allows. A
   * request that is sent again has its reservation already.
   * @returns false: the cost might exceed the bound, and nothing is reserved
   */
  reserve(request: BatchRequest, promptTokens: number): boolean {
    if (this.#prices === undefined || this.#reservations.has(request)) return true;
    const cost = this.estimate(request, promptTokens * this.#tokenRatio);
    if (this.spent + this.reserved + cost > this.max) return false;
    this.reserved += cost;
    this.#reservations.set(request, { cost, promptTokens });
    return true;
  }

  /** A request has ended. @returns its cost; null: it has no price, or reported no usage */
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

  /** Frees the reservation of a request. The cost of a group is the sum of its lines' costs. */
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

  /** Real prompt tokens per estimated one, at least 1: it never lowers an estimate. */
  get #tokenRatio(): number {
    return this.#estimatedTokens === 0
      ? 1
      : Math.max(1, this.#promptTokens / this.#estimatedTokens);
  }

  /** The cost of all requests, by the mean of those so far; undefined: too few have ended. */
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

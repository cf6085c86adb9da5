import { readFileSync } from 'node:fs';
import { BatchError, fileProblem } from '../errors.ts';
import { countAt, isObject, parseJson } from '../json.ts';
import type { TokenUsage } from '../ledger/result-line.ts';

const MILLION = 1_000_000;

/** Of a million tokens, in any one currency. */
export interface ModelPrices {
  readonly in: number;
  /** Of prompt tokens that were read from a cache. Default: as `in`. */
  readonly cached?: number | undefined;
  readonly out: number;
}

/** Prices by model; `*` is for all others. */
export type Prices = Readonly<Record<string, ModelPrices>>;

const FORM = '{"MODEL": {"in": 0.25, "cached": 0.025, "out": 2}}, per million tokens';

/** @throws BatchError that says what a price file looks like */
export function readPriceFile(file: string): Prices {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
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

export function costOf({ in: input, cached = input, out }: ModelPrices, usage: TokenUsage): number {
  const fresh = usage.input_tokens - usage.cached_input_tokens;
  const sum = fresh * input + usage.cached_input_tokens * cached + usage.output_tokens * out;
  return sum / MILLION;
}

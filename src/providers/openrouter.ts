import {
  NO_QUOTA,
  type PartialVerdict,
  type ProviderAdapter,
  type ProviderResponse,
  TOO_MANY_REQUESTS,
} from './adapter.ts';
import { matchIn } from './error-chain.ts';
import { DAY_MS, headerGetOf, MINUTE_MS, readRows, rowOf, untilReset } from './headers.ts';
import { isShape, read } from './shape.ts';

/** The limits of models without a price. */
const FREE_MODELS = /\bfree-models-per-(min|day)\b/;

/** The headers of the limit that was hit. They come in the body, not with the response. */
function limitsOf({ chain, answeredAtMs }: ProviderResponse, windowMs: number) {
  const headers = chain.map((layer) => read(read(layer, 'metadata'), 'headers')).find(isShape);
  const row = rowOf('requests', 'x-ratelimit-*', windowMs);
  return readRows([row], headerGetOf(headers), answeredAtMs);
}

function verdict(answer: ProviderResponse): PartialVerdict | undefined {
  const [, per] = matchIn(answer.texts, FREE_MODELS);
  if (per === undefined) return undefined;
  const isDaily = per === 'day';
  const limits = limitsOf(answer, isDaily ? DAY_MS : MINUTE_MS);
  const hit = isDaily ? { ...NO_QUOTA, limit: 'requests per day' } : TOO_MANY_REQUESTS;
  return { ...hit, limits, ...untilReset(limits) };
}

/** OpenRouter, which names the limits of its free models in the body. */
export const openrouter: ProviderAdapter = {
  name: 'OpenRouter',
  verdict,
};

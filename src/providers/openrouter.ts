import {
  NO_QUOTA,
  type PartialVerdict,
  type ProviderAdapter,
  type ProviderResponse,
} from './adapter.ts';
import { DAY_MS, headerGetOf, MINUTE_MS, readRows, rowOf, untilReset } from './headers.ts';
import { isShape, read } from './shape.ts';

/** The limits of models without a price. */
const FREE_MODELS = /\bfree-models-per-(min|day)\b/;

/** The headers of the limit that was hit. They come in the body, not with the response. */
function limitsOf({ chain, answeredAtMs }: ProviderResponse, windowMs: number) {
  const headers = chain.map((layer) => read(read(layer, 'metadata'), 'headers')).find(isShape);
  const row = rowOf('requests', 'x-ratelimit', windowMs);
  return readRows([row], headerGetOf(headers), answeredAtMs);
}

function verdict(answer: ProviderResponse): PartialVerdict | undefined {
  for (const text of answer.texts) {
    const per = FREE_MODELS.exec(text)?.[1];
    if (per === undefined) continue;
    const limits = limitsOf(answer, per === 'day' ? DAY_MS : MINUTE_MS);
    const hit = { limits, ...untilReset(limits) };
    return per === 'day'
      ? { ...NO_QUOTA, limit: 'requests per day', ...hit }
      : { kind: 'throttled', limit: 'requests', ...hit };
  }
  return undefined;
}

/** OpenRouter, which names the limits of its free models in the body. */
export const openrouter: ProviderAdapter = {
  name: 'OpenRouter',
  verdict,
};

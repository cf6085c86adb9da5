import {
  AGAIN,
  type PartialVerdict,
  type ProviderAdapter,
  type ProviderResponse,
} from './adapter.ts';
import { readText } from './shape.ts';

/** The categories of a failed request: the user's fault or the server's. */
const CATEGORIES = ['unknown', 'server', 'user'];

/**
 * A 429 names no wait: it follows from the size of the request. A polled future answers 408 until
 * it is ready, and 410 when it is lost and the request must be sent again.
 */
function verdict({ status, chain, words }: ProviderResponse): PartialVerdict | undefined {
  const isTinker =
    words.has('try_again') ||
    chain.some((layer) => CATEGORIES.includes(readText(layer, 'category')?.toLowerCase() ?? ''));
  if (!isTinker) return undefined;
  return status === 408 || status === 410 ? AGAIN : undefined;
}

/** Tinker's sampling API. */
export const tinker: ProviderAdapter = {
  name: 'Tinker',
  verdict,
};

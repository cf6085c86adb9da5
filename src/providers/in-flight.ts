import type { ProviderResponse } from './adapter.ts';
import { isIn } from './error-chain.ts';

const AT_ONCE = '(?:concurrent|parallel|simultaneous|in[- ]flight)';
const MANY = '(?:too many|max(?:imum)?|number of|high|(?:limit|maximum|max) of)';
/**
 * Texts of a rejection by a limit on concurrent requests, such as "max concurrency: 1" (Moonshot),
 * or on jobs that run at once, or by a full queue, which bounds the requests that wait or are
 * served.
 */
const IN_FLIGHT = new RegExp(
  [
    String.raw`\b${MANY} (?:\d{1,9} )?${AT_ONCE} [a-z]`,
    String.raw`\b${MANY} (?:connections|(?:organization )?concurrency|queue size)\b`,
    String.raw`\b${AT_ONCE} (?:[a-z]+ )?limit\b|\bconcurrency limit\b`,
    String.raw`\btoo many (?:jobs|tasks|generations) (?:at once|at the same time|running|in progress)\b`,
    String.raw`\bqueue (?:is )?full\b|\bdue to backpressure\b|并发数过高`,
  ].join('|'),
  'i',
);

/** Kubernetes' API Priority and Fairness rejects requests when too many are in flight. */
const KUBERNETES = 'x-kubernetes-pf-flowschema-uid';

/**
 * Whether a rejection names a limit on requests in flight: in a text, in a code such as
 * `too_many_concurrent_requests` (ElevenLabs) or `concurrency_limit_error` (LTX), or by a header.
 */
export function namesInFlight({
  texts,
  words,
  header,
}: Pick<ProviderResponse, 'texts' | 'words' | 'header'>): boolean {
  if (isIn(texts, IN_FLIGHT) || header(KUBERNETES)) return true;
  return [...words, ...texts].some((code) => CODE.test(code) && IN_FLIGHT.test(spaced(code)));
}

/** A code of several words, such as `CONCURRENT_LIMIT`. */
const CODE = /^[a-z]+(?:_[a-z]+)+$/i;

function spaced(code: string): string {
  return code.replaceAll('_', ' ');
}

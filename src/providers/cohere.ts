import {
  NO_QUOTA,
  type PartialVerdict,
  type ProviderAdapter,
  type ProviderResponse,
  TOO_MANY_REQUESTS,
} from './adapter.ts';
import { matchIn } from './error-chain.ts';
import { MINUTE_MS, MONTH_MS, readRows, rowOf } from './headers.ts';

/** The reset is a time in seconds since 1970. */
const ROWS = [
  rowOf('requests', 'x-trial-endpoint-call-*', MINUTE_MS),
  rowOf('requests', 'x-endpoint-monthly-call-*', MONTH_MS),
  rowOf('requests', 'x-ratelimit-*'),
];

/** Headers that only Cohere sends beside the plain names. */
const MARKS = ['x-trial-endpoint-call-limit', 'x-endpoint-monthly-call-limit'];

/** "… limited to 1000 API calls / month …" */
const CALLS = /\blimited to \d{1,12} API calls \/ (minute|month)\b/;

function verdict({ status, texts }: ProviderResponse): PartialVerdict | undefined {
  if (status !== 429) return undefined;
  const [, window] = matchIn(texts, CALLS);
  if (window === 'minute') return TOO_MANY_REQUESTS;
  return window === undefined ? undefined : { ...NO_QUOTA, limit: 'requests per month' };
}

/** Cohere. */
export const cohere: ProviderAdapter = {
  name: 'Cohere',
  marks: ['x-trial-endpoint-call-limit', 'x-ratelimit-limit'],
  limits: (header, answeredAtMs) =>
    MARKS.every((name) => header(name) === undefined) ? [] : readRows(ROWS, header, answeredAtMs),
  verdict,
};

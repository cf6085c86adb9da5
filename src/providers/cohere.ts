import {
  NO_QUOTA,
  type PartialVerdict,
  type ProviderAdapter,
  type ProviderResponse,
} from './adapter.ts';
import { type LimitRow, MINUTE_MS, MONTH_MS, readRows, rowOf } from './headers.ts';

/** The reset is a time in seconds since 1970. */
const ROWS: readonly LimitRow[] = [
  rowOf('requests', 'x-trial-endpoint-call', MINUTE_MS),
  {
    unit: 'requests',
    limit: 'x-endpoint-monthly-call-limit',
    remaining: 'x-endpoint-monthly-call-remaining',
    windowMs: MONTH_MS,
  },
  rowOf('requests', 'x-ratelimit'),
];

/** Headers that only Cohere sends beside the plain names. */
const MARKS = ['x-trial-endpoint-call-limit', 'x-endpoint-monthly-call-limit'];

/** "… limited to 1000 API calls / month …" */
const CALLS = /\blimited to \d{1,12} API calls \/ (minute|month)\b/;

function verdict({ status, texts }: ProviderResponse): PartialVerdict | undefined {
  if (status !== 429) return undefined;
  for (const text of texts) {
    const window = CALLS.exec(text)?.[1];
    if (window === 'minute') return { kind: 'throttled', limit: 'requests' };
    if (window === 'month') return { ...NO_QUOTA, limit: 'requests per month' };
  }
  return undefined;
}

/** Cohere. */
export const cohere: ProviderAdapter = {
  name: 'Cohere',
  marks: ['x-trial-endpoint-call-limit', 'x-ratelimit-limit'],
  limits: (header, answeredAtMs) =>
    MARKS.every((name) => header(name) === undefined) ? [] : readRows(ROWS, header, answeredAtMs),
  verdict,
};

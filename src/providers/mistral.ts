import {
  OVERLOADED,
  type ProviderAdapter,
  THROTTLED,
  verdictByWord,
  type Words,
} from './adapter.ts';
import { DAY_MS, MINUTE_MS, MONTH_MS, readRows, rowOf } from './headers.ts';

const WINDOWS = { minute: MINUTE_MS, hour: 3_600_000, day: DAY_MS, month: MONTH_MS };

/** Cerebras says `requests`, Mistral `req`. */
const ROWS = Object.entries(WINDOWS).flatMap(([window, windowMs]) => [
  rowOf('requests', `x-ratelimit-*-req-${window}`, windowMs),
  rowOf('requests', `x-ratelimit-*-requests-${window}`, windowMs),
  rowOf('tokens', `x-ratelimit-*-tokens-${window}`, windowMs),
]);

/** Older names; size is counted in tokens. */
const BY_SIZE = [
  rowOf('tokens', 'ratelimitbysize-*', MINUTE_MS),
  rowOf('tokens', 'x-ratelimitbysize-*-minute', MINUTE_MS),
  rowOf('tokens', 'x-ratelimitbysize-*-month', MONTH_MS),
];

/** The first ones say that the model is overloaded, though the status is 429. */
const CODES: Words = {
  service_tier_capacity_exceeded: OVERLOADED,
  3505: OVERLOADED,
  queue_exceeded: OVERLOADED,
  rate_limited: THROTTLED,
};

/** Mistral, and Cerebras, whose headers name their windows too. */
export const mistral: ProviderAdapter = {
  name: 'Mistral, Cerebras',
  marks: [
    'x-ratelimit-limit-tokens-minute',
    'x-ratelimit-limit-req-minute',
    'ratelimitbysize-limit',
    'x-ratelimitbysize-remaining-minute',
  ],
  limits: (header, answeredAtMs) => readRows([...ROWS, ...BY_SIZE], header, answeredAtMs),
  verdict: (answer) => verdictByWord(CODES, answer),
};

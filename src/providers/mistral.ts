import {
  OVERLOADED,
  type PartialVerdict,
  type ProviderAdapter,
  type ProviderResponse,
  THROTTLED,
} from './adapter.ts';
import { DAY_MS, type LimitRow, MINUTE_MS, MONTH_MS, readRows, rowOf } from './headers.ts';

const WINDOWS = { minute: MINUTE_MS, hour: 3_600_000, day: DAY_MS, month: MONTH_MS } as const;

/** `x-ratelimit-limit-tokens-minute` and the like; Cerebras says `requests`, Mistral `req`. */
function rowsOf(window: keyof typeof WINDOWS): LimitRow[] {
  return (['req', 'requests', 'tokens'] as const).map((name) => ({
    unit: name === 'tokens' ? 'tokens' : 'requests',
    limit: `x-ratelimit-limit-${name}-${window}`,
    remaining: `x-ratelimit-remaining-${name}-${window}`,
    reset: `x-ratelimit-reset-${name}-${window}`,
    windowMs: WINDOWS[window],
  }));
}

/** Older names; size is counted in tokens. */
const BY_SIZE: readonly LimitRow[] = [
  rowOf('tokens', 'ratelimitbysize', MINUTE_MS),
  ...(['minute', 'month'] as const).map(
    (window): LimitRow => ({
      unit: 'tokens',
      limit: `x-ratelimitbysize-limit-${window}`,
      remaining: `x-ratelimitbysize-remaining-${window}`,
      windowMs: WINDOWS[window],
    }),
  ),
];

const ROWS: readonly LimitRow[] = [
  ...rowsOf('minute'),
  ...rowsOf('hour'),
  ...rowsOf('day'),
  ...rowsOf('month'),
  ...BY_SIZE,
];

/** The model is overloaded, though the status is 429. */
const CAPACITY_WORDS = ['service_tier_capacity_exceeded', '3505', 'queue_exceeded'];

function verdict({ words }: ProviderResponse): PartialVerdict | undefined {
  if (CAPACITY_WORDS.some((word) => words.has(word))) return OVERLOADED;
  return words.has('rate_limited') ? THROTTLED : undefined;
}

/** Mistral, and Cerebras, whose headers name their windows too. */
export const mistral: ProviderAdapter = {
  name: 'Mistral, Cerebras',
  marks: [
    'x-ratelimit-limit-tokens-minute',
    'x-ratelimit-limit-req-minute',
    'ratelimitbysize-limit',
    'x-ratelimitbysize-remaining-minute',
  ],
  limits: (header, answeredAtMs) => readRows(ROWS, header, answeredAtMs),
  verdict,
};

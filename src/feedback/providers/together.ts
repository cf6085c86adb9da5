import type { Answer, Reader, Remark } from './reader.ts';
import { readRows } from './rows.ts';

/** Of a window that is not said: rates are dynamic. */
const ROWS = [
  {
    unit: 'requests',
    limit: 'x-ratelimit-limit',
    remaining: 'x-ratelimit-remaining',
    reset: 'x-ratelimit-reset',
  },
  {
    unit: 'tokens',
    limit: 'x-tokenlimit-limit',
    remaining: 'x-tokenlimit-remaining',
    reset: 'x-tokenlimit-reset',
  },
] as const;

/**
 * Above one's own rate the answer is 429 with one of these; within it, where the platform is short
 * of capacity, 503: an overload.
 */
function remark({ words }: Answer): Remark | undefined {
  if (words.has('dynamic_request_limited')) return { kind: 'throttled', limit: 'requests' };
  if (words.has('dynamic_token_limited')) return { kind: 'throttled', limit: 'tokens' };
  return undefined;
}

/** Together, and other APIs that send the plain `x-ratelimit-*`. */
export const together: Reader = {
  name: 'Together, and plain `x-ratelimit-*`',
  reads:
    '`x-ratelimit-{limit,remaining,reset}`, `x-tokenlimit-*`; `dynamic_request_limited` and `dynamic_token_limited` (throttled); 503 within your rate (overloaded)',
  marks: ['x-ratelimit-limit'],
  limits: (header, answeredAtMs) => readRows(ROWS, header, answeredAtMs),
  remark,
};

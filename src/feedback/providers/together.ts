import type { Answer, Reader, Remark } from './reader.ts';
import { readRows, untilReset } from './rows.ts';

/** Of a window that only Envoy says: the rates of Together are dynamic. */
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
 * Above one's own rate Together answers 429 with one of these; within it, where the platform is short
 * of capacity, 503: an overload. Envoy sends no `Retry-After`, but the end of the window as the reset.
 */
function remark({ words, status, header, answeredAtMs }: Answer): Remark | undefined {
  if (words.has('dynamic_request_limited')) return { kind: 'throttled', limit: 'requests' };
  if (words.has('dynamic_token_limited')) return { kind: 'throttled', limit: 'tokens' };
  const isEnvoy = status === 429 && header('x-ratelimit-limit')?.includes(';w=') === true;
  return isEnvoy ? untilReset(readRows(ROWS, header, answeredAtMs)) : undefined;
}

/** Together, Envoy, and other APIs that send the plain `x-ratelimit-*`. */
export const together: Reader = {
  name: 'Together, Envoy, and plain `x-ratelimit-*`',
  reads:
    '`x-ratelimit-{limit,remaining,reset}` (resets in seconds from now or since 1970), with the policies of Envoy (`60, 60;w=60`); `x-tokenlimit-*`; `dynamic_request_limited` and `dynamic_token_limited` (throttled); 503 within your rate (overloaded)',
  marks: ['x-ratelimit-limit'],
  limits: (header, answeredAtMs) => readRows(ROWS, header, answeredAtMs),
  remark,
};

import {
  type HeaderGet,
  type PartialVerdict,
  type ProviderAdapter,
  type ProviderResponse,
  TOO_MANY_REQUESTS,
  TOO_MANY_TOKENS,
  verdictByWord,
  type Words,
} from './adapter.ts';
import { readRows, rowOf, untilReset } from './headers.ts';
import { plainNumber } from './times.ts';

/** The window is known only where Envoy names it: Together's rates are dynamic. */
const ROWS = [
  rowOf('requests', 'x-ratelimit-*'),
  // X and Okta.
  rowOf('requests', 'x-rate-limit-*'),
  rowOf('tokens', 'x-tokenlimit-*'),
];

const CODES: Words = {
  dynamic_request_limited: TOO_MANY_REQUESTS,
  dynamic_token_limited: TOO_MANY_TOKENS,
};

/**
 * Together answers 429 with one of these above the account's own rate, and 503 (an overload) where
 * the platform lacks capacity. Envoy sends no `Retry-After`; its reset is the end of the window.
 */
function verdict(answer: ProviderResponse): PartialVerdict | undefined {
  const known = verdictByWord(CODES, answer);
  if (known !== undefined) return known;
  const { status, header, answeredAtMs } = answer;
  const isEnvoy = status === 429 && header('x-ratelimit-limit')?.includes(';w=') === true;
  return isEnvoy ? untilReset(readRows(ROWS, header, answeredAtMs)) : undefined;
}

/** Reddit tells what is used instead of the limit. */
function usedAndLeft(header: HeaderGet): string | undefined {
  const used = plainNumber(header('x-ratelimit-used'));
  const left = plainNumber(header('x-ratelimit-remaining'));
  return used === undefined || left === undefined ? undefined : String(used + left);
}

/** Together, Envoy, and other APIs with plain `x-ratelimit-*` or `x-rate-limit-*` headers. */
export const together: ProviderAdapter = {
  name: 'Together, Envoy, and plain `x-ratelimit-*`',
  marks: ['x-ratelimit-limit', 'x-rate-limit-limit', 'x-ratelimit-used'],
  limits(header, answeredAtMs) {
    const told: HeaderGet = (name) => {
      // Discord's `x-ratelimit-reset-after` is exact, while the clocks of its reset may differ.
      const text = header(`${name}-after`) ?? header(name);
      return text === undefined && name === 'x-ratelimit-limit' ? usedAndLeft(header) : text;
    };
    return readRows(ROWS, told, answeredAtMs);
  },
  verdict,
};

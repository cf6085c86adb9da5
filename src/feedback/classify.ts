import type { FeedbackKind, Verdict } from '../model/feedback.ts';
import { retryAfterOf } from './retry-after.ts';
import { headersOf, layers, statusOf, wordsOf } from './shape.ts';

/** Codes of Node's sockets, of its resolver and of undici that mean: the connection broke. */
const CONNECTION_CODES = [
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'APIConnectionError',
  'APIConnectionTimeoutError',
];

const THROTTLED_WORDS = ['RESOURCE_EXHAUSTED', 'ThrottlingException', 'TooManyRequestsException'];
const OVERLOADED_WORDS = ['overloaded_error', 'ServiceUnavailableException', 'UNAVAILABLE'];
const BILLING_WORDS = ['billing_not_active', 'billing_hard_limit_reached'];
const QUOTA_WORDS = ['insufficient_quota', ...BILLING_WORDS];
/** What tells as much as a status does. */
const TELLING_WORDS = [...THROTTLED_WORDS, ...OVERLOADED_WORDS, ...QUOTA_WORDS];

/** Statuses of passing failures: the same request may go well next time. */
const RETRIED_STATUSES = [408, 409];

/** Statuses that every request will meet until somebody mends the account. */
const OUTAGE_STATUSES: ReadonlyMap<number, string> = new Map([
  [401, 'authorisation'],
  [402, 'billing'],
  [403, 'authorisation'],
]);

/**
 * What an error (or a failed response) says about the provider, by its shape: `status`,
 * `statusCode`, `code`, `name`, `headers`, on itself or on its `response`, `error` or `cause`.
 */
export function classify(error: unknown): Verdict {
  const found = layers(error);
  const status = statusOf(found);
  const words = wordsOf(found);
  const said = (list: readonly string[]) => list.some((word) => words.has(word));
  if (status === undefined && !said(TELLING_WORDS)) {
    return { kind: 'failed', retry: said(CONNECTION_CODES) };
  }
  const headers = headersOf(found);
  const kind = said(QUOTA_WORDS)
    ? 'fatal'
    : said(THROTTLED_WORDS)
      ? 'throttled'
      : said(OVERLOADED_WORDS)
        ? 'overloaded'
        : kindOf(status ?? 0);
  const outage = said(BILLING_WORDS)
    ? 'billing'
    : said(QUOTA_WORDS)
      ? 'quota'
      : OUTAGE_STATUSES.get(status ?? 0);
  const retryAfterMs = retryAfterOf(headers, Date.now);
  return {
    kind,
    retry:
      headers['x-should-retry'] !== 'false' &&
      (kind !== 'fatal' || RETRIED_STATUSES.includes(status ?? 0)),
    headers,
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(outage !== undefined && { outage }),
  };
}

function kindOf(status: number): FeedbackKind {
  if (status === 429) return 'throttled';
  if (status === 503 || status === 529) return 'overloaded';
  if (status >= 500 || RETRIED_STATUSES.includes(status)) return 'failed';
  return 'fatal';
}

import {
  NO_MONEY,
  NO_QUOTA,
  OVERLOADED,
  type PartialVerdict,
  type ProviderAdapter,
  type ProviderResponse,
  THROTTLED,
  TOO_MANY_REQUESTS,
  TOO_MANY_TOKENS,
  verdictByWord,
  type Words,
} from './adapter.ts';
import { isIn } from './error-chain.ts';
import { MINUTE_MS } from './headers.ts';

/** Codes of APIs that send no headers about their limits, from their pages on errors. */
const CODES: Words = {
  // Moonshot
  engine_overloaded_error: OVERLOADED,
  exceeded_current_quota_error: NO_MONEY,
  // Alibaba Cloud Model Studio
  Arrearage: NO_MONEY,
  limit_requests: TOO_MANY_REQUESTS,
  limit_burst_rate: TOO_MANY_REQUESTS,
  'Throttling.RateQuota': TOO_MANY_REQUESTS,
  'Throttling.BurstRate': TOO_MANY_REQUESTS,
  'Throttling.AllocationQuota': TOO_MANY_TOKENS,
  // Volcano Engine
  ServerOverloaded: OVERLOADED,
  AccountOverdueError: NO_MONEY,
  SetLimitExceeded: NO_QUOTA,
  RequestBurstTooFast: TOO_MANY_REQUESTS,
  ModelAccountRpmRateLimitExceeded: TOO_MANY_REQUESTS,
  ModelAccountTpmRateLimitExceeded: TOO_MANY_TOKENS,
  InflightBatchsizeExceeded: { kind: 'throttled', limit: 'concurrency' },
  // IBM watsonx.ai
  rate_limit_reached_requests: TOO_MANY_REQUESTS,
  rate_limit_reached_tokens: TOO_MANY_TOKENS,
  token_quota_reached: NO_QUOTA,
  // Google's older APIs (Gmail, Drive, Calendar, YouTube), with 403
  userRateLimitExceeded: TOO_MANY_REQUESTS,
  rateLimitExceeded: TOO_MANY_REQUESTS,
  dailyLimitExceeded: NO_QUOTA,
  // X, the posts of a month, with 429
  'https://api.twitter.com/2/problems/usage-capped': NO_QUOTA,
  // GraphQL: Shopify, GitHub, Linear. Their clients throw errors of status 200 or 400.
  THROTTLED,
  RATE_LIMITED: THROTTLED,
  RATELIMITED: THROTTLED,
};

/** The free allocation of Cloudflare Workers AI. */
const USED_UP = /\bused up your daily\b/i;

/**
 * A secondary limit of GitHub, which answers 403 or 429. Its pages ask to wait a minute where no
 * header names a wait.
 */
const SECONDARY = /\bsecondary rate limit\b/i;
const SECONDARY_LIMIT: PartialVerdict = { kind: 'throttled', retryAfterMs: MINUTE_MS };

/** Salesforce, the requests of a day. Databricks sends the same code with 429, for any limit. */
const SALESFORCE = 'REQUEST_LIMIT_EXCEEDED';

function verdict(answer: ProviderResponse): PartialVerdict | undefined {
  const known = verdictByWord(CODES, answer);
  if (known !== undefined) return known;
  if (isIn(answer.texts, SECONDARY)) return SECONDARY_LIMIT;
  const isOfDay = answer.status === 403 && answer.words.has(SALESFORCE);
  return isOfDay || isIn(answer.texts, USED_UP) ? NO_QUOTA : undefined;
}

/** APIs of which only the codes of errors are to be known. */
export const otherCodes: ProviderAdapter = {
  name: 'APIs known by their codes',
  verdict,
};

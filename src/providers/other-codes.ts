import {
  NO_MONEY,
  NO_QUOTA,
  OVERLOADED,
  type PartialVerdict,
  type ProviderAdapter,
  type ProviderResponse,
} from './adapter.ts';

const REQUESTS: PartialVerdict = { kind: 'throttled', limit: 'requests' };
const TOKENS: PartialVerdict = { kind: 'throttled', limit: 'tokens' };

/** Codes of APIs that send no headers about their limits, from their pages on errors. */
const CODES: Readonly<Record<string, PartialVerdict>> = {
  // Moonshot
  engine_overloaded_error: OVERLOADED,
  exceeded_current_quota_error: NO_MONEY,
  // Alibaba Cloud Model Studio
  Arrearage: NO_MONEY,
  limit_requests: REQUESTS,
  limit_burst_rate: REQUESTS,
  'Throttling.RateQuota': REQUESTS,
  'Throttling.BurstRate': REQUESTS,
  'Throttling.AllocationQuota': TOKENS,
  // Volcano Engine
  ServerOverloaded: OVERLOADED,
  AccountOverdueError: NO_MONEY,
  SetLimitExceeded: NO_QUOTA,
  RequestBurstTooFast: REQUESTS,
  ModelAccountRpmRateLimitExceeded: REQUESTS,
  ModelAccountTpmRateLimitExceeded: TOKENS,
  InflightBatchsizeExceeded: { kind: 'throttled', limit: 'concurrency' },
  // IBM watsonx.ai
  rate_limit_reached_requests: REQUESTS,
  rate_limit_reached_tokens: TOKENS,
  token_quota_reached: NO_QUOTA,
};

/** The free allocation of Cloudflare Workers AI. */
const USED_UP = /\bused up your daily\b/i;

function verdict({ words, texts }: ProviderResponse): PartialVerdict | undefined {
  for (const word of words) if (Object.hasOwn(CODES, word)) return CODES[word];
  return texts.some((text) => USED_UP.test(text)) ? NO_QUOTA : undefined;
}

/** APIs of which only the codes of errors are to be known. */
export const otherCodes: ProviderAdapter = {
  name: 'Moonshot, Model Studio, Volcano Engine, watsonx.ai, Workers AI',
  verdict,
};

/** What the adapter of each family of providers reads, by the adapter's name. */
export const PROVIDER_TEXTS: Readonly<Record<string, string>> = {
  'LiteLLM proxy':
    '`x-ratelimit-{api_key,team,user,…}-{limit,remaining}-{requests,tokens,max_parallel_requests}`; the headers of the provider behind it, with and without `llm_provider-`; `rate_limit_type` and "Limit type: …": which limit was hit (`max_parallel_requests` is `concurrency`; its `Retry-After`, the length of a window, is left out)',
  OpenRouter:
    '`free-models-per-min` (throttled) and `free-models-per-day` (final), with the `X-RateLimit-*` headers that stand in `metadata` of the body',
  gRPC: 'numeric status codes (8 throttled, 14 overloaded, 4, 10 and 13 again, 7 and 16 authorisation); `RetryInfo` in `grpc-status-details-bin`; `grpc-retry-pushback-ms`',
  Google:
    '`RESOURCE_EXHAUSTED` and other statuses; `RetryInfo.retryDelay` and `quotaResetDelay`; `QuotaFailure` and `ErrorInfo`: which quota, its value and window; a quota of the day (final, whatever delay is beside it); `API_KEY_INVALID` (authorisation, though the status is 400)',
  'Amazon Bedrock':
    '`ThrottlingException` and the other names of AWS errors, also from `x-amzn-errortype`; tokens or requests; `per day` and `ServiceQuotaExceededException` (final)',
  Groq: 'the headers of OpenAI with `x-groq-region`: requests are of a day, tokens of a minute; 498 (overloaded); "tokens per day" in messages, with their delay',
  'Azure OpenAI':
    'the headers of OpenAI without values of 0 and -1; `x-ratelimit-renewalperiod-*` (the window, unknown without it)',
  'APIs known by their codes':
    'Moonshot, Model Studio, Volcano Engine, watsonx.ai, Workers AI, Salesforce, X, Gmail and other older APIs of Google: codes of overload, of a missing balance or quota (final), and of the limit that was hit; a daily allocation that is used up (final); GraphQL: `THROTTLED`, `RATE_LIMITED`, `RATELIMITED` (throttled)',
  'OpenAI, and APIs like it':
    '`x-ratelimit-{limit,remaining,reset}-{requests,tokens}`; `insufficient_quota`, spend and billing codes (final); `resource_unavailable` (overloaded); a request above the limit itself (final); which limit was hit',
  Anthropic:
    '`anthropic-ratelimit-{requests,tokens,input-tokens,output-tokens}-{limit,remaining,reset}`; error types, also inside streams; 529; spend caps and missing credit (final)',
  Tinker: '429 without any header; 408 (ask again) and 410 (send anew) by their bodies',
  'Mistral, Cerebras':
    '`x-ratelimit-{limit,remaining,reset}-{req,requests,tokens}-{minute,hour,day,month}`; `ratelimitbysize-*` (tokens); a full service tier or queue (overloaded)',
  'IETF draft':
    '`RateLimit-Policy` (`q`, `w`, `qu`: requests, content-bytes, concurrent-requests) and `RateLimit` (`r`, `t`) as structured fields; of older drafts `RateLimit: limit=60, remaining=59, reset=6`, `RateLimit-{Limit,Remaining,Reset}`, `RateLimit-Policy: 60;w=6`',
  Cohere:
    '`x-trial-endpoint-call-*` (of a minute), `x-endpoint-monthly-call-*`, `x-ratelimit-*`, resets in seconds since 1970; the calls of a month used up (final)',
  'Together, Envoy, and plain `x-ratelimit-*`':
    '`x-ratelimit-{limit,remaining,reset}`, also spelled `x-rate-limit-*` as by X and Okta, or with `x-ratelimit-used` instead of the limit as by Reddit (resets in seconds from now or since 1970; before them `x-ratelimit-reset-after` of Discord), with the policies of Envoy (`60, 60;w=60`); `x-tokenlimit-*`; `dynamic_request_limited` and `dynamic_token_limited` (throttled); 503 within your rate (overloaded)',
};

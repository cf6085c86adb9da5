import { anthropicLimitHeaders } from '../anthropic-headers.ts';
import { retryAfterSeconds } from '../openai-headers.ts';
import type { Dialect } from './dialect.ts';

const MIB = 1024 * 1024;

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

function errorBody(status: number, message: string, requestId: string) {
  const type = TYPES[status] ?? 'api_error';
  return { type: 'error', error: { type, message }, request_id: `req_${requestId}` };
}

/** What Anthropic's API reference says of keys, headers and errors. 503 is 529 there. */
export const anthropicDialect: Dialect = {
  maxBytes: 32 * MIB,
  apiKey: (exchange) => exchange.header('x-api-key') ?? exchange.bearer(),
  headers: (exchange) => ({ 'request-id': `req_${exchange.id}` }),
  limitHeaders: (limits, context, ageMs) =>
    anthropicLimitHeaders(limits, context.wallNow() - ageMs),
  problem: ({ status, message }, exchange) => ({
    status,
    headers: {},
    body: errorBody(status, message, exchange.id),
  }),
  refusal: (answer, exchange) => {
    const status = answer.status === 503 ? 529 : answer.status;
    const { message = '', retryAfterMs } = answer;
    const headers: Record<string, string> = {};
    if (retryAfterMs !== undefined) headers['retry-after'] = retryAfterSeconds(retryAfterMs);
    return { status, headers, body: errorBody(status, message, exchange.id) };
  },
};

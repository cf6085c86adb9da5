import { openAiHeaders } from '../openai-headers.ts';
import type { ProviderAnswer } from '../provider-types.ts';
import type { Dialect } from './dialect.ts';

const MIB = 1024 * 1024;

function errorBody(message: string, type: string, param: string | null, code: string | null) {
  return { error: { message, type, param, code } };
}

/** The `type` of an error; that of a 429 is the unit whose limit was reached. */
function errorType(answer: ProviderAnswer): string {
  if (answer.code === 'insufficient_quota') return 'insufficient_quota';
  if (answer.status === 429) {
    const limit = answer.limits.find(({ name }) => name === answer.limit);
    return limit === undefined || limit.unit === 'requests' ? 'requests' : 'tokens';
  }
  return answer.status >= 500 ? 'server_error' : 'invalid_request_error';
}

/** What OpenAI's API reference says of keys, headers and errors. */
export const openAiDialect: Dialect = {
  maxBytes: 64 * MIB,
  apiKey: (exchange) => exchange.bearer() ?? exchange.header('api-key'),
  headers: (exchange) => ({ 'x-request-id': `req_${exchange.id}` }),
  limitHeaders: (limits) => openAiHeaders({ limits }),
  problem: ({ status, message, param, code }) => ({
    status,
    headers: {},
    body: errorBody(
      message,
      status >= 500 ? 'server_error' : 'invalid_request_error',
      param ?? null,
      code ?? null,
    ),
  }),
  refusal: (answer) => {
    const code = answer.status < 500 ? (answer.code ?? null) : null;
    const { retryAfterMs } = answer;
    return {
      status: answer.status,
      headers: openAiHeaders({
        limits: [],
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      }),
      body: errorBody(answer.message ?? '', errorType(answer), null, code),
    };
  },
};

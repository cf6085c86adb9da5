import type { Dialect } from './dialect.ts';

const MIB = 1024 * 1024;

/** Errors carry who is to blame, as failed requests of this API do. */
function errorBody(status: number, error: string) {
  return { error, category: status >= 500 ? 'server' : 'user' };
}

/** A sampling API that returns futures. Its 429 says nothing about limits or waiting. */
export const tinkerDialect: Dialect = {
  maxBytes: 64 * MIB,
  apiKey: (exchange) => exchange.header('x-api-key') ?? exchange.bearer(),
  headers: () => ({}),
  limitHeaders: () => ({}),
  problem: ({ status, message }) => ({ status, headers: {}, body: errorBody(status, message) }),
  refusal: ({ status, message }) => ({
    status,
    headers: {},
    body: errorBody(status, message ?? ''),
  }),
};

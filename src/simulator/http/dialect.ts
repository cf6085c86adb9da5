import type { LimitStatus } from '../limits/limit-set.ts';
import type { Provider, ProviderAnswer } from '../provider-types.ts';
import type { Exchange, Headers } from './exchange.ts';
import type { Problem } from './request-body.ts';
import type { HttpFault } from './serve-options.ts';
import type { OutputOptions } from './text.ts';

/** The objects and settings that all routes of a server share. */
export interface RouteContext {
  readonly provider: Provider;
  /** Wall time, in milliseconds since 1970. */
  readonly wallNow: () => number;
  /** Undefined: every model name is accepted. */
  readonly models: readonly string[] | undefined;
  readonly output: OutputOptions;
  /** The fault of the completion that has just arrived; undefined: none. */
  readonly nextFault: () => HttpFault | undefined;
  /** Fires when the server closes. */
  readonly closed: AbortSignal;
}

/** An error in the format of one API. */
export interface ErrorReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** The format of keys, headers and errors in one API. */
export interface Dialect {
  /** Larger bodies are refused with 413. */
  readonly maxBytes: number;
  apiKey(exchange: Exchange): string | undefined;
  /** Headers of every response. */
  headers(exchange: Exchange): Headers;
  /** Headers that report the limits as of `ageMs` ago. */
  limitHeaders(limits: readonly LimitStatus[], context: RouteContext, ageMs: number): Headers;
  problem(problem: Problem, exchange: Exchange): ErrorReply;
  /** A provider's answer that is not ok. */
  refusal(answer: ProviderAnswer, exchange: Exchange): ErrorReply;
}

/** The handler of a method and path. */
export interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Other paths of this route, such as those of providers with a compatible API. */
  readonly alias?: RegExp;
  handle(exchange: Exchange, context: RouteContext, dialect: Dialect): Promise<void> | void;
}

/** Sends the answer to a request that failed. */
export function sendRefusal(
  answer: ProviderAnswer,
  exchange: Exchange,
  context: RouteContext,
  dialect: Dialect,
): void {
  if (answer.status === 0) {
    exchange.breakOff();
    return;
  }
  const { status, headers, body } = dialect.refusal(answer, exchange);
  const limits = dialect.limitHeaders(answer.limits, context, answer.latencyMs);
  exchange.sendJson(status, { ...dialect.headers(exchange), ...limits, ...headers }, body);
}

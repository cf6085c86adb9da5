import { Sized } from 'headgate';
import { estimateBytes, estimateTokens } from '../sizing/estimate.ts';
import { endpointOf } from './endpoint.ts';
import type { JsonObject } from './json.ts';

/** One line of the input: a request to send, and the id of its result. */
export interface BatchRequest {
  /** Unique among the lines; the result has it as `custom_id`. */
  readonly id: string;
  /** Of the endpoint, from the root of the API: `/v1/chat/completions`. */
  readonly url: string;
  /** The body to send, as JSON. */
  readonly body: JsonObject;
  /**
   * The body as text, if the line has numbers beyond 2^53: they are rounded in `body`, and as they
   * were written in this text. Undefined: there are no such numbers.
   */
  readonly json?: string | undefined;
  /** Copied to the result. */
  readonly metadata?: JsonObject | undefined;
  /** The position of the line, such as `prompts.jsonl:12`. */
  readonly place: string;
  /** Hash of url and body, in hexadecimal. */
  readonly hash: string;
  /**
   * The lines whose texts this request sends together (see `groupSize`); its other fields are those
   * of the first line. Undefined: the request is one line.
   */
  readonly members?: readonly BatchRequest[] | undefined;
}

/** The answer of a server to one request. */
export interface BatchResponse {
  readonly statusCode: number;
  readonly requestId?: string | undefined;
  /** The limiter reads limits and retry-after from them; results do not have them. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>> | undefined;
  /** The parsed JSON. */
  readonly body: unknown;
  /** How a worker process sent the request; undefined: this process sent it. */
  readonly sent?: SentBy | undefined;
}

/** The attempts and the time that a worker process needed for a request. */
export interface SentBy {
  readonly attempts: number;
  /** Attempts that were answered 429. */
  readonly rejected: number;
  readonly waitedMs: number;
  /** Without the time of `waitedMs`. */
  readonly durationMs: number;
}

/** The context of one call to the API. */
export interface SendContext {
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
}

/** Makes one call to the API. Rejects if no answer came; `runBatch` does the retries. */
export type Send = (request: BatchRequest, context: SendContext) => Promise<BatchResponse>;

/** The requests of a source, each with its size. */
export async function* allSized(
  requests: AsyncIterable<BatchRequest>,
): AsyncGenerator<Sized<BatchRequest>> {
  for await (const request of requests) yield sized(request);
}

/** The estimated tokens of a request's input. */
export function promptTokensOf({ body }: BatchRequest): number {
  return estimateTokens(body, estimateBytes(body));
}

/**
 * A request with its bytes and tokens. The tokens include those that the answer may have, which
 * providers charge until they have answered.
 */
export function sized(request: BatchRequest): Sized<BatchRequest> {
  const { url, body } = request;
  const bytes = estimateBytes(body);
  const output = endpointOf(url)?.maxOutputOf(body) ?? 0;
  return new Sized(request, bytes, estimateTokens(body, bytes) + output);
}

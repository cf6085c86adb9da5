import { Sized } from 'headgate';
import { estimateBytes, estimateTokens } from '../sizing/estimate.ts';
import { endpointOf } from './endpoint.ts';
import type { JsonObject } from './json.ts';

/** One line of the input: a request to send, and what its result is known by. */
export interface BatchRequest {
  /** Unique among the lines; the result has it as `custom_id`. */
  readonly id: string;
  /** Of the endpoint, from the root of the API: `/v1/chat/completions`. */
  readonly url: string;
  /** What is sent, as JSON. */
  readonly body: JsonObject;
  /**
   * The same as text, if the line has numbers beyond 2^53: `body` has them rounded, and this as they
   * were written. Undefined: there are none.
   */
  readonly json?: string | undefined;
  /** Copied to the result. */
  readonly metadata?: JsonObject | undefined;
  /** Where the line is, such as `prompts.jsonl:12`. */
  readonly place: string;
  /** Of url and body, in hexadecimal. */
  readonly hash: string;
  /**
   * The lines whose texts this request sends together (see `groupSize`); its other fields are those
   * of the first one. Undefined: it is one line.
   */
  readonly members?: readonly BatchRequest[] | undefined;
}

/** What a server answered to one request. */
export interface BatchResponse {
  readonly statusCode: number;
  readonly requestId?: string | undefined;
  /** Read for limits and retry-after; not kept. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>> | undefined;
  /** The parsed JSON. */
  readonly body: unknown;
  /** How another process sent the request, where one did. */
  readonly sent?: SentBy | undefined;
}

/** What it took to send a request. */
export interface SentBy {
  readonly attempts: number;
  /** Attempts that were answered 429. */
  readonly rejected: number;
  readonly waitedMs: number;
  /** Without the wait. */
  readonly durationMs: number;
}

/** What a call to the API is told. */
export interface SendContext {
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
  /** From 1. */
  readonly attempt: number;
}

/** Makes one call to the API. Rejects where no answer came; `runBatch` sends again. */
export type Send = (request: BatchRequest, context: SendContext) => Promise<BatchResponse>;

/** The requests of a source, each with its size. */
export async function* allSized(
  requests: AsyncIterable<BatchRequest>,
): AsyncGenerator<Sized<BatchRequest>> {
  for await (const request of requests) yield sized(request);
}

/** Tokens of what a request sends, as estimated. */
export function promptTokensOf({ body }: BatchRequest): number {
  return estimateTokens(body, estimateBytes(body));
}

/**
 * A request with its bytes, and its tokens with those that the answer may have: that is what
 * providers charge until they have answered.
 */
export function sized(request: BatchRequest): Sized<BatchRequest> {
  const { url, body } = request;
  const bytes = estimateBytes(body);
  const output = endpointOf(url)?.maxOutputOf(body) ?? 0;
  return new Sized(request, bytes, estimateTokens(body, bytes) + output);
}

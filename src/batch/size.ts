import { Sized } from 'headgate';
import { estimateBytes, estimateTokens } from '../sizing/estimate.ts';
import { endpointOf } from './endpoint.ts';
import type { BatchRequest } from './request.ts';

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

import type { PartialVerdict, ProviderAdapter, ProviderResponse } from './adapter.ts';
import { google } from './google.ts';
import { isShape, read } from './shape.ts';
import { retryDelayMs } from './status-details.ts';
import { plainNumber } from './times.ts';

/** Status codes of gRPC ("Status codes and their use in gRPC") that say whether to send again. */
const VERDICTS: ReadonlyMap<number, PartialVerdict> = new Map<number, PartialVerdict>([
  [1, { kind: 'failed', retry: false }], // CANCELLED
  [2, { kind: 'failed', retry: false }], // UNKNOWN
  [3, { kind: 'fatal' }], // INVALID_ARGUMENT
  [4, { kind: 'failed', retry: true }], // DEADLINE_EXCEEDED
  [5, { kind: 'fatal' }], // NOT_FOUND
  [6, { kind: 'fatal' }], // ALREADY_EXISTS
  [7, { kind: 'fatal', outage: 'authorisation' }], // PERMISSION_DENIED
  [8, { kind: 'throttled' }], // RESOURCE_EXHAUSTED
  [9, { kind: 'fatal' }], // FAILED_PRECONDITION
  [10, { kind: 'failed', retry: true }], // ABORTED
  [11, { kind: 'fatal' }], // OUT_OF_RANGE
  [12, { kind: 'fatal' }], // UNIMPLEMENTED
  [13, { kind: 'failed', retry: true }], // INTERNAL
  [14, { kind: 'overloaded' }], // UNAVAILABLE
  [15, { kind: 'fatal' }], // DATA_LOSS
  [16, { kind: 'fatal', outage: 'authorisation' }], // UNAUTHENTICATED
]);

/** `get` returns metadata as a list: of strings, or of bytes for names that end in `-bin`. */
function firstOf(metadata: unknown, name: string): unknown {
  const get = read(metadata, 'get');
  if (typeof get !== 'function') return undefined;
  try {
    return read(get.call(metadata, name), 0);
  } catch {
    return undefined;
  }
}

function verdict(answer: ProviderResponse): PartialVerdict | undefined {
  if (answer.status !== undefined) return undefined;
  for (const layer of answer.chain) {
    const code = read(layer, 'code');
    const metadata = read(layer, 'metadata');
    // A number in `code` alone is no proof: many errors have one.
    const isGrpc = typeof read(layer, 'details') === 'string' || isShape(metadata);
    const known = typeof code === 'number' && isGrpc ? VERDICTS.get(code) : undefined;
    // Some clients decode the details, which have the form of Google's HTTP bodies.
    if (known !== undefined)
      return { ...known, ...google.verdict?.(answer), ...pushedBack(metadata) };
  }
  return undefined;
}

/** The delay that a server names (gRFC A6). Any value but a number >= 0 forbids another attempt. */
function pushedBack(metadata: unknown): PartialVerdict {
  const pushback = firstOf(metadata, 'grpc-retry-pushback-ms');
  if (typeof pushback === 'string') {
    const ms = plainNumber(pushback);
    return ms === undefined ? { retry: false } : { retryAfterMs: ms };
  }
  const ms = retryDelayMs(firstOf(metadata, 'grpc-status-details-bin'));
  return ms === undefined ? {} : { retryAfterMs: ms };
}

/** Errors of gRPC clients: a numeric `code` beside `details` or `metadata`. */
export const grpc: ProviderAdapter = {
  name: 'gRPC',
  reads:
    'numeric status codes (8 throttled, 14 overloaded, 4, 10 and 13 again, 7 and 16 authorisation); `RetryInfo` in `grpc-status-details-bin`; `grpc-retry-pushback-ms`',
  verdict,
};

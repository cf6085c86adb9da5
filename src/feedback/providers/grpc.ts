import { isShape, read } from '../shape.ts';
import { google } from './google.ts';
import type { Answer, Reader, Remark } from './reader.ts';
import { retryDelayMs } from './status-details.ts';
import { plainNumber } from './times.ts';

/** Status codes of gRPC ("Status codes and their use in gRPC"); those missing say nothing of sending. */
const REMARKS: ReadonlyMap<number, Remark> = new Map<number, Remark>([
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

/** Metadata come as lists by `get`, of texts or, under names that end in `-bin`, of bytes. */
function firstOf(metadata: unknown, name: string): unknown {
  const get = read(metadata, 'get');
  if (typeof get !== 'function') return undefined;
  try {
    return read(get.call(metadata, name), 0);
  } catch {
    return undefined;
  }
}

function remark(answer: Answer): Remark | undefined {
  if (answer.status !== undefined) return undefined;
  for (const layer of answer.layers) {
    const code = read(layer, 'code');
    const metadata = read(layer, 'metadata');
    // A number under `code` alone may be anybody's.
    const isGrpc = typeof read(layer, 'details') === 'string' || isShape(metadata);
    const said = typeof code === 'number' && isGrpc ? REMARKS.get(code) : undefined;
    // Some clients decode the details, which are those of Google's HTTP bodies.
    if (said !== undefined) return { ...said, ...google.remark?.(answer), ...pushedBack(metadata) };
  }
  return undefined;
}

/** A server may name the delay itself (gRFC A6); what is no number >= 0 forbids to send again. */
function pushedBack(metadata: unknown): Remark {
  const pushback = firstOf(metadata, 'grpc-retry-pushback-ms');
  if (typeof pushback === 'string') {
    const ms = plainNumber(pushback);
    return ms === undefined ? { retry: false } : { retryAfterMs: ms };
  }
  const ms = retryDelayMs(firstOf(metadata, 'grpc-status-details-bin'));
  return ms === undefined ? {} : { retryAfterMs: ms };
}

/** Errors of gRPC clients: a numeric `code` beside `details` or `metadata`. */
export const grpc: Reader = {
  name: 'gRPC',
  reads:
    'numeric status codes (8 throttled, 14 overloaded, 4, 10 and 13 again, 7 and 16 authorisation); `RetryInfo` in `grpc-status-details-bin`; `grpc-retry-pushback-ms`',
  remark,
};

import {
  AGAIN,
  FATAL,
  OVERLOADED,
  type PartialVerdict,
  type ProviderAdapter,
  type ProviderResponse,
  THROTTLED,
  UNAUTHORISED,
} from './adapter.ts';
import { google } from './google.ts';
import { isShape, read } from './shape.ts';
import { plainNumber } from './times.ts';

/**
 * Finds the delay in a serialized `google.rpc.Status`: four fields of three Protocol Buffers
 * messages.
 */

const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo';
/** Servers keep their headers below this. */
const MOST_BYTES = 16 * 1024;
const MOST_FIELDS = 256;

/** The fields of a message: numbers for varints, bytes for length-delimited fields. */
type Field = readonly [number: number, value: number | Uint8Array];

/**
 * @param details the bytes of `grpc-status-details-bin`
 * @returns `RetryInfo.retry_delay` in ms; undefined if there is none, or if this is no Status
 */
export function retryDelayMs(details: unknown): number | undefined {
  if (!(details instanceof Uint8Array) || details.length > MOST_BYTES) return undefined;
  for (const any of messages(details, 3)) {
    const [url] = messages(any, 1);
    if (url === undefined || new TextDecoder().decode(url) !== RETRY_INFO) continue;
    for (const info of messages(any, 2)) {
      for (const duration of messages(info, 1)) {
        return numberOf(duration, 1) * 1000 + numberOf(duration, 2) / 1e6;
      }
    }
  }
  return undefined;
}

function messages(bytes: Uint8Array, wanted: number): Uint8Array[] {
  return fieldsOf(bytes).flatMap(([number, value]) =>
    number === wanted && value instanceof Uint8Array ? [value] : [],
  );
}

function numberOf(bytes: Uint8Array, wanted: number): number {
  const field = fieldsOf(bytes).find(([number]) => number === wanted);
  return typeof field?.[1] === 'number' ? field[1] : 0;
}

/** All fields up to the first malformed one. */
function fieldsOf(bytes: Uint8Array): Field[] {
  const fields: Field[] = [];
  let at = 0;
  /** Exact up to 2^53. A negative number comes out huge, and is rejected as a delay. */
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; at < bytes.length && scale < 2 ** 70; scale *= 128) {
      const byte = bytes[at] ?? 0;
      at += 1;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    at = bytes.length + 1;
    return 0;
  };
  while (at < bytes.length && fields.length < MOST_FIELDS) {
    const key = varint();
    const number = Math.floor(key / 8);
    const wireType = key % 8;
    if (wireType === 0) fields.push([number, varint()]);
    else if (wireType === 2) {
      const length = varint();
      fields.push([number, bytes.subarray(at, at + length)]);
      at += length;
    } else if (wireType === 1) at += 8;
    else if (wireType === 5) at += 4;
    else break;
    if (at > bytes.length) {
      fields.pop();
      break;
    }
  }
  return fields;
}

const DROPPED: PartialVerdict = { kind: 'failed', retry: false };

/**
 * The verdicts on the status codes of gRPC, from 0 on ("Status codes and their use in gRPC"): they
 * say whether to send again.
 */
const VERDICTS: readonly (PartialVerdict | undefined)[] = [
  undefined, // OK
  DROPPED, // CANCELLED
  DROPPED, // UNKNOWN
  FATAL, // INVALID_ARGUMENT
  AGAIN, // DEADLINE_EXCEEDED
  FATAL, // NOT_FOUND
  FATAL, // ALREADY_EXISTS
  UNAUTHORISED, // PERMISSION_DENIED
  THROTTLED, // RESOURCE_EXHAUSTED
  FATAL, // FAILED_PRECONDITION
  AGAIN, // ABORTED
  FATAL, // OUT_OF_RANGE
  FATAL, // UNIMPLEMENTED
  AGAIN, // INTERNAL
  OVERLOADED, // UNAVAILABLE
  FATAL, // DATA_LOSS
  UNAUTHORISED, // UNAUTHENTICATED
];

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
    // A number in `code` alone does not identify gRPC: many errors have one.
    const isGrpc = typeof read(layer, 'details') === 'string' || isShape(metadata);
    const known = typeof code === 'number' && isGrpc ? VERDICTS[code] : undefined;
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
  verdict,
};

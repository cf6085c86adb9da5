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
    if (url === undefined || Buffer.from(url).toString('latin1') !== RETRY_INFO) continue;
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

/** Reads errors and responses by their shape, so that no SDK must be imported. */

export type Shape = Readonly<Record<PropertyKey, unknown>>;

export function isShape(value: unknown): value is Shape {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** A property; undefined if there is none or if reading it throws. */
export function read(value: unknown, key: PropertyKey): unknown {
  if (!isShape(value)) return undefined;
  try {
    return value[key];
  } catch {
    return undefined;
  }
}

/** A property, if it is a string. */
export function readText(value: unknown, key: PropertyKey): string | undefined {
  const text = read(value, key);
  return typeof text === 'string' ? text : undefined;
}

/**
 * A property as a number, from a number, a text, or a 64-bit integer of a Protocol Buffers library.
 */
export function readNumber(value: unknown, key: PropertyKey): number | undefined {
  const found = read(value, key);
  if (typeof found === 'number') return found;
  if (typeof found === 'string' || typeof found === 'bigint') return Number(found);
  const toNumber = read(found, 'toNumber');
  if (typeof toNumber !== 'function') return undefined;
  try {
    const number: unknown = toNumber.call(found);
    return typeof number === 'number' ? number : undefined;
  } catch {
    return undefined;
  }
}

/** `Array.isArray` throws for a proxy that was revoked. */
export function isList(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/** The readable items of a list; empty for any other value. */
export function readList(value: unknown, longest: number): readonly unknown[] {
  if (!isList(value)) return [];
  try {
    return value.slice(0, longest);
  } catch {
    return [];
  }
}

export function isStatus(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 100 && value <= 599;
}

/**
 * Whether this is a stream of the AI SDK. Reading its `usage` or `response` starts to consume it,
 * and its failure would then be an unhandled rejection.
 */
export function isLiveStream(value: object): boolean {
  try {
    return 'fullStream' in value;
  } catch {
    return true;
  }
}

/** A response of `fetch`: what its body says cannot be read from it at once. */
export function isResponse(value: object): boolean {
  try {
    return value instanceof Response;
  } catch {
    return false;
  }
}

/** The same, also of node-fetch, which warns of a read of its `data`. */
export function isAnyResponse(value: unknown): value is { readonly status: number } {
  return typeof read(value, 'json') === 'function' && isStatus(read(value, 'status'));
}

/** The answer to a conditional request whose resource is as before. `fetch` does not call it ok. */
const NOT_MODIFIED = 304;

/** A fetch response that is not ok. It is a value to the caller, but no success. */
export function isFailedResponse<R>(value: R): value is R & { readonly status: number } {
  return (
    typeof value === 'object' &&
    value !== null &&
    read(value, 'ok') === false &&
    isStatus(read(value, 'status')) &&
    read(value, 'status') !== NOT_MODIFIED &&
    typeof read(read(value, 'headers'), 'get') === 'function'
  );
}

/** Cancels the unread body of a response: the connection is kept open until then. */
export function discard(response: unknown): void {
  let body = read(response, 'body');
  if (body === undefined) body = read(response, 'data');
  // Of a web stream, of undici's `request`, or of any other stream of Node.
  const cancel = read(body, 'cancel') ?? read(body, 'dump') ?? read(body, 'destroy');
  if (typeof cancel !== 'function') return;
  try {
    Promise.resolve(cancel.call(body)).catch(() => undefined);
  } catch {
    // It was read or closed already.
  }
}

/** The number if it is finite and above 0; undefined for anything else a provider may send. */
export function positive(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined;
}

/** Reads errors and responses by their shape, so that no SDK need be imported. */

export type Shape = Readonly<Record<PropertyKey, unknown>>;

export function isShape(value: unknown): value is Shape {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** A property, or undefined where there is none, or where reading it throws. */
export function read(value: unknown, key: PropertyKey): unknown {
  if (!isShape(value)) return undefined;
  try {
    return value[key];
  } catch {
    return undefined;
  }
}

/** A property that is a text. */
export function readText(value: unknown, key: PropertyKey): string | undefined {
  const text = read(value, key);
  return typeof text === 'string' ? text : undefined;
}

/** A property as a number: of a number, a text, or a 64-bit integer of a Protocol Buffers library. */
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

/** The items of a list, as far as they can be read; of anything else none. */
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
 * A stream of the AI SDK. To read its `usage` or its `response` is to ask for them: that consumes it,
 * and its failure would have nobody who waits for it.
 */
export function isLiveStream(value: object): boolean {
  try {
    return 'fullStream' in value;
  } catch {
    return true;
  }
}

/** A response of fetch that says no. It is a value to its caller, but no success. */
export function isFailedResponse<R>(value: R): value is R & { readonly status: number } {
  return (
    typeof value === 'object' &&
    value !== null &&
    read(value, 'ok') === false &&
    isStatus(read(value, 'status')) &&
    typeof read(read(value, 'headers'), 'get') === 'function'
  );
}

/** Copies of bodies that were made to read them, by their responses. */
const copies = new WeakMap<object, ReadableStreamDefaultReader<Uint8Array>>();

/** Remembers the reader of a copy of a response's body, so that `discard` cancels both. */
export function rememberCopy(
  response: object,
  copy: ReadableStreamDefaultReader<Uint8Array>,
): void {
  copies.set(response, copy);
}

/**
 * Cancels the body of a response that nobody will read, and the copy of it. Both have to go: the
 * connection is kept while one is left.
 */
export function discard(response: unknown): void {
  const copy = isShape(response) ? copies.get(response) : undefined;
  copy?.cancel().catch(() => undefined);
  const body = read(response, 'body');
  const cancel = read(body, 'cancel');
  if (typeof cancel !== 'function') return;
  try {
    Promise.resolve(cancel.call(body)).catch(() => undefined);
  } catch {
    // It was read or closed already.
  }
}

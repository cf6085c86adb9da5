/** Reads errors and responses by their shape, so that no SDK need be imported. */

type Shape = Readonly<Record<PropertyKey, unknown>>;

/** What errors carry inside: a response and its body (`data`), an API's error, a cause. */
const INNER = ['response', 'data', 'error', 'cause'] as const;

/** How many objects are looked at in all: errors of SDKs nest three deep. */
const MOST_LAYERS = 24;

function isShape(value: unknown): value is Shape {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** A property, or undefined where there is none, or where reading it throws. */
function read(value: unknown, key: PropertyKey): unknown {
  if (!isShape(value)) return undefined;
  try {
    return value[key];
  } catch {
    return undefined;
  }
}

/** The thing itself, then what it carries inside, nearest first. */
export function layers(thing: unknown): unknown[] {
  const found = [thing].filter(isShape);
  // The list grows while it is gone through; circles end where it is full.
  for (const layer of found) {
    for (const key of INNER) {
      if (found.length === MOST_LAYERS) return found;
      const inner = read(layer, key);
      if (isShape(inner) && !found.includes(inner)) found.push(inner);
    }
  }
  return found;
}

function isStatus(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 100 && value <= 599;
}

/** Of the layers of an error: the HTTP status, as fetch, axios, undici, the OpenAI, Anthropic, Google and AWS SDKs carry it. */
export function statusOf(found: readonly unknown[]): number | undefined {
  for (const layer of found) {
    const metadata = read(layer, '$metadata');
    const statuses = [
      read(layer, 'status'),
      read(layer, 'statusCode'),
      read(metadata, 'httpStatusCode'),
      read(layer, 'code'),
    ];
    const status = statuses.find(isStatus);
    if (status !== undefined) return status;
  }
  return undefined;
}

/** Of its layers: every `code`, `name` and `type` that is a string. */
export function wordsOf(found: readonly unknown[]): Set<string> {
  const words = new Set<string>();
  for (const layer of found) {
    for (const key of ['code', 'name', 'type']) {
      const word = read(layer, key);
      if (typeof word === 'string') words.add(word);
    }
  }
  return words;
}

/** Of its layers: the headers, names in lower case; empty where there are none. */
export function headersOf(found: readonly unknown[]): Record<string, string> {
  for (const layer of found) {
    const headers = read(layer, 'headers') ?? read(layer, 'responseHeaders');
    if (isShape(headers)) return toRecord(headers);
  }
  return {};
}

function isIterable(value: object): value is Iterable<unknown> {
  return typeof read(value, Symbol.iterator) === 'function';
}

/** Headers, maps and lists of pairs are iterable; the rest are plain objects. */
function toRecord(headers: object): Record<string, string> {
  const record: Record<string, string> = {};
  try {
    for (const pair of isIterable(headers) ? headers : Object.entries(headers)) {
      if (Array.isArray(pair)) record[String(pair[0]).toLowerCase()] = String(pair[1]);
    }
  } catch {
    return {};
  }
  return record;
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

/** Lets go of the connection of a response that nobody will read. */
export function discard(response: unknown): void {
  const body = read(response, 'body');
  const cancel = read(body, 'cancel');
  if (typeof cancel !== 'function') return;
  try {
    Promise.resolve(cancel.call(body)).catch(() => undefined);
  } catch {
    // It was read or closed already.
  }
}

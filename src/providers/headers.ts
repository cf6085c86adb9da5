import type { HeaderGet } from './adapter.ts';
import { isList, isShape, read, readList } from './shape.ts';

const NONE: HeaderGet = () => undefined;
/** Longer header values are ignored: no provider sends one. */
const LONGEST_VALUE = 4_096;
const UPPER_CASE = /[A-Z]/;
const MOST_OF_LIST = 16;

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/**
 * Reads single headers of a `Headers` object, of an object with such a `get` (axios, Map), or of a
 * record. Copies nothing where the names are in lower case, as clients deliver them.
 */
export function headerGetOf(headers: unknown): HeaderGet {
  if (!isShape(headers)) return NONE;
  const get = read(headers, 'get');
  if (typeof get !== 'function')
    return ofRecord(isList(headers) ? recordOf(headers) : inLowerCase(headers));
  // A Map keeps the case of its keys.
  if (read(headers, 'constructor') === Map) return ofRecord(recordOf(headers));
  return (name) => {
    try {
      return textOf(get.call(headers, name));
    } catch {
      return undefined;
    }
  };
}

function ofRecord(record: object): HeaderGet {
  return (name) => textOf(read(record, name));
}

/** Node gives a repeated header as an array. */
function textOf(value: unknown): string | undefined {
  const text = isList(value) ? readList(value, MOST_OF_LIST).filter(isText).join(', ') : value;
  if (typeof text === 'number') return String(text);
  return typeof text === 'string' && text.length <= LONGEST_VALUE ? text : undefined;
}

function inLowerCase(headers: object): object {
  try {
    for (const name in headers) if (UPPER_CASE.test(name)) return recordOf(headers);
    return headers;
  } catch {
    return {};
  }
}

/** All headers, names in lower case; empty where there are none. */
export function headersOf(chain: readonly unknown[]): Record<string, string> {
  for (const layer of chain) {
    const headers = read(layer, 'headers') ?? read(layer, 'responseHeaders');
    if (!isShape(headers)) continue;
    const record = recordOf(headers);
    if (Object.keys(record).length > 0) return record;
  }
  return {};
}

function isIterable(value: object): value is Iterable<unknown> {
  return typeof read(value, Symbol.iterator) === 'function';
}

/** More headers than a server sends. The rest is ignored. */
const MOST_HEADERS = 256;

/** Headers, maps and lists of pairs are iterable; the rest are plain objects. */
function recordOf(headers: object): Record<string, string> {
  const record: Record<string, string> = {};
  try {
    let left = MOST_HEADERS;
    for (const pair of isIterable(headers) ? headers : Object.entries(headers)) {
      if (left-- === 0) break;
      if (isList(pair)) record[String(pair[0]).toLowerCase()] = String(pair[1]);
    }
  } catch {
    return {};
  }
  return record;
}

import { readFileSync } from 'node:fs';

/** Reading of JSON whose shape is not known. */

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path through objects and lists; undefined if there is none. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}

export function textAt(value: unknown, ...path: readonly (string | number)[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

/** A count at a path: a finite number >= 0. */
export function countAt(value: unknown, ...path: readonly (string | number)[]): number | undefined {
  const found = at(value, ...path);
  return typeof found === 'number' && Number.isFinite(found) && found >= 0 ? found : undefined;
}

/** The text of a file, without the byte order mark that programs of Windows put before JSON. */
export function readJsonFile(file: string): string {
  return new TextDecoder().decode(readFileSync(file));
}

/** @returns undefined if the text is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

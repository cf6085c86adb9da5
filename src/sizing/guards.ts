/** What a value is, so that its fields can be read; they are `unknown` until looked at. */

/** An object of any kind, arrays included; a function is none. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** A guard without the `any` that `Array.isArray` brings. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** Where measuring stops. A value beyond these limits has no JSON form, so its size is 0. */
import { constants } from 'node:buffer';

/** A JSON text of more UTF-8 bytes would exceed the longest string. */
export const MAX_JSON_BYTES = 3 * constants.MAX_STRING_LENGTH;

/** A JSON array of more items would too: each takes a character and a comma. */
export const MAX_JSON_ITEMS = constants.MAX_STRING_LENGTH / 2;

/**
 * Levels of nesting. Far deeper than `JSON.stringify` reaches on a default stack (some thousands),
 * so it stops only values that generate themselves: a proxy, or a `toJSON` that returns new objects
 * for ever.
 */
export const MAX_DEPTH = 200_000;

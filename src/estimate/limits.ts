/** Where measuring stops. What lies beyond has no JSON form, so that its size is 0. */
import { constants } from 'node:buffer';

/** A JSON text of more UTF-8 bytes is longer than a string can be. */
export const MAX_JSON_BYTES = 3 * constants.MAX_STRING_LENGTH;

/** A JSON array of more items is too: each takes a character and a comma. */
export const MAX_JSON_ITEMS = constants.MAX_STRING_LENGTH / 2;

/**
 * Levels of nesting. Far deeper than `JSON.stringify` gets on a default stack (some thousands), so
 * that it ends only what makes itself as it is read: a proxy, or a `toJSON` that returns ever new
 * objects.
 */
export const MAX_DEPTH = 200_000;

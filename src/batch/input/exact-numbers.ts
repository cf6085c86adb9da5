import { randomUUID } from 'node:crypto';

/** The prefix of marked numbers. It is random, so that no text of an input begins with it. */
const MARK = `number ${randomUUID()} `;
const MARKED = new RegExp(`"${MARK}([^"]+)"`, 'g');

/** A text without a match has no number that is rounded. */
const MAY_BE_ROUNDED = /\d{16}|\d[eE]\+?\d/;
/** An escape, the beginning or end of a string, or a number. */
const TOKEN = /\\.|"|-?\d[\d.eE+-]*/g;

/**
 * Replaces the numbers that JavaScript would round, those beyond 2^53, by marked strings.
 * @param text JSON
 * @returns undefined: there are no such numbers
 */
export function markNumbers(text: string): string | undefined {
  if (!MAY_BE_ROUNDED.test(text)) return undefined;
  let isInString = false;
  let marks = 0;
  const marked = text.replaceAll(TOKEN, (token) => {
    if (token === '"') isInString = !isInString;
    if (isInString || !(Math.abs(Number(token)) > Number.MAX_SAFE_INTEGER)) return token;
    marks += 1;
    return `"${MARK}${token}"`;
  });
  return marks === 0 ? undefined : marked;
}

/** Puts the numbers back. @param json made from the marked text */
export function unmarkNumbers(json: string): string {
  return json.replaceAll(MARKED, '$1');
}

/** The same for a single string. */
export function unmarkText(text: string): string {
  return text.startsWith(MARK) ? text.slice(MARK.length) : text;
}

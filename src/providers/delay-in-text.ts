/** "try again in 1.2s", "retry after 6 seconds", "wait 13 seconds", "your quota will reset after 3h" and the like. */
const PHRASE = /\b(?:(?:try again|retry|wait|resets?) (?:in|after|for|at least)|wait) ~?/gi;
/** Units of time as texts write them, in ms. */
export const UNITS_MS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['millisecond', 1],
  ['s', 1000],
  ['sec', 1000],
  ['second', 1000],
  ['m', 60_000],
  ['min', 60_000],
  ['minute', 60_000],
  ['h', 3_600_000],
  ['hour', 3_600_000],
  ['d', 86_400_000],
  ['day', 86_400_000],
]);
/** A number and a unit, at the start of what is left. */
const PART = /^[ ,]{0,2}(\d{1,15}(?:\.\d{1,15})?) ?([a-z]{1,12})/i;
/** Days, hours, minutes, seconds, milliseconds. */
const MOST_PARTS = 5;
const LONGEST_DELAY = 80;

/** The delay in the first text that names one, in ms; undefined if none does. */
export function delayInText(texts: readonly string[]): number | undefined {
  for (const text of texts) {
    for (const { 0: phrase, index } of text.matchAll(PHRASE)) {
      const start = index + phrase.length;
      const ms = delayMs(text.slice(start, start + LONGEST_DELAY));
      if (ms !== undefined) return ms;
    }
  }
  return undefined;
}

function delayMs(text: string): number | undefined {
  let totalMs = 0;
  let left = text;
  for (let parts = 0; parts < MOST_PARTS; parts += 1) {
    const match = PART.exec(left);
    const [whole = '', amount = '', unit = ''] = match ?? [];
    const unitMs = UNITS_MS.get(unit.toLowerCase()) ?? UNITS_MS.get(singular(unit));
    if (match === null || unitMs === undefined) break;
    totalMs += Number(amount) * unitMs;
    left = left.slice(whole.length);
  }
  return totalMs > 0 ? totalMs : undefined;
}

function singular(unit: string): string {
  return unit.toLowerCase().replace(/s$/, '');
}

import type { LimitUnit, ReportedLimit } from '../model/feedback.ts';
import { reported } from './headers.ts';
import { positive, read } from './shape.ts';

/**
 * "try again in 1.2s", "retry after 6 seconds", "wait 13 seconds", "your quota will reset after 3h"
 * and the like.
 */
const PHRASE =
  /\b(?:(?:try again|retry|wait|resets?|available) (?:in|after|for|at least)|wait) ~?/gi;
/** Units of time as texts write them, in ms. */
const UNITS_MS: ReadonlyMap<string, number> = new Map([
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
/** A number and a unit, at the start of the remaining text. */
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
    const unitMs = unitMsOf(unit);
    if (match === null || unitMs === undefined) break;
    totalMs += Number(amount) * unitMs;
    left = left.slice(whole.length);
  }
  return totalMs > 0 ? totalMs : undefined;
}

function unitMsOf(unit: string): number | undefined {
  const name = unit.toLowerCase();
  return UNITS_MS.get(name) ?? UNITS_MS.get(name.replace(/s$/, ''));
}

/** Fields of bodies that name a wait as a number, and their units in ms. */
const FIELDS = [
  ['retry_after_ms', 1],
  ['retryAfterMs', 1],
  ['retry_after', 1000],
  ['retry_after_seconds', 1000],
  ['retryAfter', 1000],
] as const;

/** The wait that a field of a body names (Replicate, Cloudflare and others), in ms. */
export function delayInBody(chain: readonly unknown[]): number | undefined {
  for (const layer of chain) {
    for (const [name, unitMs] of FIELDS) {
      const amount = read(layer, name);
      const ms = typeof amount === 'number' ? positive(amount * unitMs) : undefined;
      if (ms !== undefined) return ms;
    }
  }
  return undefined;
}

/**
 * "rate limit of 30,000 input tokens per minute", "your rate limit is 480 req/min", "Rate limit of
 * 15 per 60s exceeded" and the like. A number without a unit is one of requests.
 */
const STATED =
  /limit(?:ed)?\b[^.\n]{0,60}?\b(\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?: (req|requests?|(?:input |output )?tokens?)(?:\(s\))?)?(?: per | ?\/ ?)(\d{1,9}(?:\.\d{1,3})?)? ?([a-z]{1,12})\b/i;
/** A unit and its time, without a number: "Tokens per minute limit exceeded", "max RPM: 3". */
const NAMED = /\b(requests|(?:input |output )?tokens) per (?:second|min|minute|hour)\b/i;
const SHORT_NAMES: ReadonlyMap<string, LimitUnit> = new Map([
  ['RPM', 'requests'],
  ['TPM', 'tokens'],
]);
const SHORT_NAME = /\b(RPM|TPM)\b/;

/** The limit whose size and window a text of a 429 states; undefined if none does. */
export function limitInText(texts: readonly string[]): ReportedLimit | undefined {
  for (const text of texts) {
    const [, amount, unit = 'requests', times = 1, per = ''] = STATED.exec(text) ?? [];
    const unitMs = unitMsOf(per);
    if (amount !== undefined && unitMs !== undefined) {
      const limit = Number(amount.replaceAll(',', ''));
      return reported(unitOf(unit), { limit, windowMs: Number(times) * unitMs });
    }
  }
  return undefined;
}

/** The unit of the limit that a text of a 429 names; undefined: none is named. */
export function unitInText(texts: readonly string[]): LimitUnit | undefined {
  for (const text of texts) {
    const named = NAMED.exec(text)?.[1];
    if (named !== undefined) return unitOf(named);
    const short = SHORT_NAMES.get(SHORT_NAME.exec(text)?.[1] ?? '');
    if (short !== undefined) return short;
  }
  return undefined;
}

function unitOf(text: string): LimitUnit {
  const unit = text.toLowerCase();
  if (unit.startsWith('req')) return 'requests';
  return unit.startsWith('input')
    ? 'input-tokens'
    : unit.startsWith('output')
      ? 'output-tokens'
      : 'tokens';
}

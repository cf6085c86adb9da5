import { positive } from './shape.ts';

/** Durations and times as providers write them. All expressions are anchored or fixed in length. */

/** Longer texts are no times. */
const LONGEST_TEXT = 64;
/** A plain number above this is a time in seconds since 1970, not a number of seconds to wait. */
const LEAST_EPOCH_SECONDS = 1e9;
/** Above this, it is a time in ms since 1970. */
const LEAST_EPOCH_MS = 1e12;

/** No window is longer than a month: a later time comes from a wrong clock. */
const LONGEST_RESET_MS = 31 * 86_400_000;
/**
 * No answer takes longer than an hour: a reset that has passed before that comes from a wrong
 * clock.
 */
const LONGEST_PASSED_MS = 3_600_000;

const PLAIN = /^\d+(?:\.\d+)?$/;
const DURATION =
  /^(?:(\d+(?:\.\d+)?)d)? ?(?:(\d+(?:\.\d+)?)h)? ?(?:(\d+(?:\.\d+)?)m)? ?(?:(\d+(?:\.\d+)?)s)? ?(?:(\d+(?:\.\d+)?)ms)?$/;
const UNITS_MS = [86_400_000, 3_600_000, 60_000, 1000, 1] as const;
/** The form of every date with a time. `Date.parse` alone accepts nearly any text. */
const TIME_OF_DAY = /\d\d:\d\d:\d\d/;

/** A number without sign or exponent, up to 2^53; undefined for anything else. */
export function plainNumber(text: string | undefined): number | undefined {
  if (text === undefined || text.length > LONGEST_TEXT) return undefined;
  const trimmed = text.trim();
  if (!PLAIN.test(trimmed)) return undefined;
  const value = Number(trimmed);
  return value <= Number.MAX_SAFE_INTEGER ? value : undefined;
}

/** `6m0s`, `1h2m3.5s`, `20ms`, `6m 11.5s` in ms; undefined for anything else. */
export function durationMs(text: string | undefined): number | undefined {
  if (text === undefined || text.length > LONGEST_TEXT) return undefined;
  const match = DURATION.exec(text.trim());
  if (match === null || match[0] === '') return undefined;
  let totalMs = 0;
  for (const [index, unitMs] of UNITS_MS.entries()) {
    totalMs += Number(match[index + 1] ?? 0) * unitMs;
  }
  return totalMs;
}

/** A date with a time of day, in ms since 1970; undefined for anything else. */
export function dateMs(text: string | undefined): number | undefined {
  if (text === undefined || text.length > LONGEST_TEXT || !TIME_OF_DAY.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/**
 * The time from the answer until a reset, which may be a duration, seconds, or a time (RFC 3339, an
 * HTTP date, seconds or ms since 1970).
 * @returns ms >= 0; undefined for a time that has passed or is too far ahead, and for other text
 */
export function untilResetMs(
  text: string | undefined,
  answeredAtMs: () => number,
): number | undefined {
  return resetOf(text, answeredAtMs).resetMs;
}

/**
 * The fields of a reset header. If it is a time that has passed, or the very second of the answer,
 * only `isResetTime` is set.
 */
export function resetOf(
  text: string | undefined,
  answeredAtMs: () => number,
): { readonly resetMs: number | undefined; readonly isResetTime: boolean } {
  const atMs = timeMs(text);
  if (atMs === undefined) {
    const seconds = plainNumber(text);
    const ms = seconds === undefined ? durationMs(text) : seconds * 1000;
    const isSound = ms !== undefined && ms <= LONGEST_RESET_MS;
    return { resetMs: isSound ? ms : undefined, isResetTime: false };
  }
  const ms = atMs - answeredAtMs();
  const isSound = ms >= -LONGEST_PASSED_MS && ms <= LONGEST_RESET_MS;
  return { resetMs: isSound && ms > 0 ? ms : undefined, isResetTime: isSound };
}

/** A time as seconds or ms since 1970, or as a date, in ms since 1970. */
function timeMs(text: string | undefined): number | undefined {
  const number = plainNumber(text);
  if (number === undefined) return dateMs(text);
  if (number < LEAST_EPOCH_SECONDS) return undefined;
  return number < LEAST_EPOCH_MS ? number * 1000 : number;
}

type Headers = Readonly<Record<string, string>>;

/** The prefix of headers that a LiteLLM proxy passes on from the provider behind it. */
export const PASSED_ON = 'llm_provider-';

/**
 * The wait that a response asks for: `retry-after-ms`, or `x-retry-in` as a duration, else
 * `Retry-After` in seconds or as an HTTP date (RFC 9110, 10.2.3), counted from the response's own
 * `Date`, since clocks differ (from 1e9 on, a number of seconds is a time since 1970); else the wait of the provider behind a proxy, or in other headers.
 * @returns milliseconds > 0; undefined if there is no usable wait
 */
export function retryAfterOf(headers: Headers, wallNow: () => number): number | undefined {
  return (
    waitOf(headers, '', wallNow) ??
    waitOf(headers, PASSED_ON, wallNow) ??
    otherWaitOf(headers, wallNow)
  );
}

/**
 * Names of other headers with a wait: `X-Retry-After` (Better Auth), `X-RateLimit-Retry-After`
 * (Symfony), `Retry-After-short` (a named limit of Nest), `x-ms-retry-after-ms` (Cosmos DB).
 */
const OTHER_WAIT = /^x-.*retry-after|^retry-after-/;

/** The longest wait in other headers: each may belong to a limit of its own. */
function otherWaitOf(headers: Headers, wallNow: () => number): number | undefined {
  const waits = Object.keys(headers).map((name) => {
    const unit = name.endsWith('-ms') ? 'ms' : '';
    return (OTHER_WAIT.test(name) && untilResetMs(headers[name] + unit, wallNow)) || 0;
  });
  return positive(Math.max(...waits));
}

function waitOf(headers: Headers, prefix: string, wallNow: () => number): number | undefined {
  const ms =
    positive(decimal(headers[`${prefix}retry-after-ms`])) ??
    // Traefik rounds its `Retry-After` to whole seconds.
    positive(durationMs(headers['x-retry-in']));
  if (ms !== undefined) return ms;
  const text = headers[`${prefix}retry-after`] ?? '';
  // Two layers of a server may each send the header: `1, 1`.
  const seconds = Math.max(...text.split(', ', 9).map((part) => decimal(part) ?? Number.NaN));
  if (seconds < LEAST_EPOCH_SECONDS) return positive(seconds * 1000);
  const atMs = timeMs(text);
  if (atMs === undefined) return undefined;
  const sentAt = Date.parse(headers[`${prefix}date`] ?? headers.date ?? '');
  const waitMs = atMs - (Number.isNaN(sentAt) ? wallNow() : sentAt);
  return waitMs <= LONGEST_RESET_MS ? positive(waitMs) : undefined;
}

/** A plain decimal: no exponent, hexadecimal number or sign, which `Number` would accept. */
function decimal(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

import { positive } from './positive.ts';

/** What every HTTP date has. `Date.parse` finds a year or a month in nearly any text. */
const TIME_OF_DAY = /\d\d:\d\d:\d\d/;

type Headers = Readonly<Record<string, string>>;

/** Before the names of headers that the LiteLLM proxy passes on from the provider behind it. */
const PASSED_ON = 'llm_provider-';

/**
 * How long a response asks to wait: `retry-after-ms`, else `Retry-After` in seconds or as an HTTP
 * date (RFC 9110, 10.2.3), which counts from the response's own `Date`, since clocks differ; else
 * what the provider behind a proxy asked for.
 * @returns milliseconds > 0; undefined where nothing usable is said
 */
export function retryAfterOf(headers: Headers, wallNow: () => number): number | undefined {
  return waitOf(headers, '', wallNow) ?? waitOf(headers, PASSED_ON, wallNow);
}

function waitOf(headers: Headers, prefix: string, wallNow: () => number): number | undefined {
  const ms = positive(decimal(headers[`${prefix}retry-after-ms`]));
  if (ms !== undefined) return ms;
  const text = headers[`${prefix}retry-after`];
  const seconds = decimal(text);
  if (seconds !== undefined) return positive(seconds * 1000);
  if (text === undefined || !TIME_OF_DAY.test(text)) return undefined;
  const sentAt = Date.parse(headers[`${prefix}date`] ?? headers.date ?? '');
  return positive(Date.parse(text) - (Number.isNaN(sentAt) ? wallNow() : sentAt));
}

/** Plain decimals alone: no exponent, hexadecimal or sign that `Number` would take. */
function decimal(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

import { positive } from './positive.ts';

/** The form of every HTTP date. `Date.parse` alone accepts nearly any text. */
const TIME_OF_DAY = /\d\d:\d\d:\d\d/;

type Headers = Readonly<Record<string, string>>;

/** The prefix of headers that a LiteLLM proxy passes on from the provider behind it. */
const PASSED_ON = 'llm_provider-';

/**
 * The wait that a response asks for: `retry-after-ms`, else `Retry-After` in seconds or as an HTTP
 * date (RFC 9110, 10.2.3), counted from the response's own `Date`, since clocks differ; else the
 * wait of the provider behind a proxy.
 * @returns milliseconds > 0; undefined if there is no usable wait
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

/** A plain decimal: no exponent, hexadecimal number or sign, which `Number` would accept. */
function decimal(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

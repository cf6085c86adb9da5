/** Formats numbers as text, for the server and for the page. */

const COUNT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const FRACTION = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });

/** `12,345`; `1.23` for a fraction below 100. */
export function count(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? 'no limit' : '0';
  return Number.isInteger(value) || value >= 100 ? COUNT.format(value) : FRACTION.format(value);
}

/** Turns `costBudget` into `cost budget`. */
export function spaced(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** `1 request`, `2 requests`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** `340 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`, `30 d`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return 'unknown';
  if (ms < 1) return ms <= 0 ? '0 ms' : '< 1 ms';
  // What would be rounded to 1,000 ms or to 10.0 s has the next unit.
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return joined(minutes, 'min', seconds % 60, 's');
  const hours = Math.floor(minutes / 60);
  if (hours < LEAST_DAYS_H) return joined(hours, 'h', minutes % 60, 'min');
  return joined(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

/** From two days on, a time is told in days: `47 h 59 min`, `2 d`. */
const LEAST_DAYS_H = 48;

/** The length of a window: `a minute`, `in 20 s`. */
export function perWindow(windowMs: number): string {
  if (windowMs === 1_000) return 'a second';
  if (windowMs === 60_000) return 'a minute';
  if (windowMs === 3_600_000) return 'an hour';
  if (windowMs === 86_400_000) return 'a day';
  return `in ${duration(windowMs)}`;
}

function joined(first: number, unit: string, rest: number, small: string): string {
  return rest === 0 ? `${first} ${unit}` : `${first} ${unit} ${rest} ${small}`;
}

/** `14:05:30`, in the time zone of the program or browser that runs this. */
export function clockTime(epochMs: number): string {
  return new Date(epochMs).toLocaleTimeString([], { hourCycle: 'h23' });
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `512 B`, `5.0 MiB`. */
export function bytes(value: number): string {
  if (!Number.isFinite(value) || value >= 2 ** 50) return 'no limit';
  let amount = value;
  let unit = 0;
  while (Math.abs(amount) >= 1024 && unit < UNITS.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[unit]}`;
}

/** A rate below this, unless it is an integer, is written per minute. */
const SLOW_PER_SECOND = 10;

/** A rate: `20 requests a second`, `500 requests a minute`, `3 requests an hour`. */
export function rate(perSecond: number, unit = 'request'): string {
  if (perSecond >= SLOW_PER_SECOND || Number.isInteger(perSecond)) {
    return `${plural(round(perSecond), unit)} a second`;
  }
  const perMinute = perSecond * 60;
  if (perMinute < 0.1) return `${plural(round(perMinute * 60), unit)} an hour`;
  return `${plural(round(perMinute), unit)} a minute`;
}

function round(value: number): number {
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

/** Cuts a text to `most` characters, the last of them `…`. */
export function clip(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Characters that reorder the text around them, such as a right-to-left override. */
const REORDERING = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

/**
 * A name that the program has given, as the page shows it: of at most `most` characters, with
 * characters that would reorder its sentence written as in JavaScript (`\u202e`), and in quotes if
 * it is blank.
 */
export function shownName(name: string, most: number): string {
  if (name.trim() === '') return `"${clip(name, most)}"`;
  return clip(name, most).replace(
    REORDERING,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

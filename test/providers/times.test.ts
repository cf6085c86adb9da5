import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retryAfterOf } from '../../src/providers/times.ts';
import { anyText } from '../support/any-text.ts';
import { runs } from '../support/runs.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const waitOf = (headers: Record<string, string>) => retryAfterOf(headers, () => NOW);
const inUtc = (ms: number) => new Date(ms).toUTCString();

describe('retryAfterOf', () => {
  it.each([
    ['1', 1000],
    ['1.5', 1500],
    ['0.001', 1],
    [' 20 ', 20_000],
    ['007', 7000],
    ['86400', 86_400_000],
    ['1, 1', 1000],
    ['2, 10, 3.5', 10_000],
  ])('reads Retry-After: %s as %i ms', (text, ms) => {
    expect(waitOf({ 'retry-after': text })).toBe(ms);
  });

  it('reads a date from the date of the response', () => {
    const date = inUtc(NOW - 1e9);
    expect(waitOf({ 'retry-after': inUtc(NOW - 1e9 + 7000), date })).toBe(7000);
    expect(waitOf({ 'retry-after': inUtc(NOW), date: inUtc(NOW + 1e9) })).toBeUndefined();
  });

  it('reads a date from now where the response has none, or one that is none', () => {
    expect(waitOf({ 'retry-after': inUtc(NOW + 3000) })).toBe(3000);
    expect(waitOf({ 'retry-after': inUtc(NOW + 3000), date: 'yesterday' })).toBe(3000);
  });

  it('reads a number that is too large for a wait as seconds or ms since 1970', () => {
    const seconds = Math.floor(NOW / 1000);
    expect(waitOf({ 'retry-after': String(seconds + 30) })).toBe((seconds + 30) * 1000 - NOW);
    expect(waitOf({ 'retry-after': String(NOW + 30_000) })).toBe(30_000);
    expect(waitOf({ 'retry-after': String(seconds - 30) })).toBeUndefined();
    expect(waitOf({ 'retry-after': '999999999' })).toBe(999_999_999_000);
  });

  it.each(['99999999999', '9999999999999999', inUtc(NOW + 32 * 86_400_000)])(
    'ignores a time that is more than a month ahead: %s',
    (text) => {
      expect(waitOf({ 'retry-after': text })).toBeUndefined();
    },
  );

  it('reads the other two forms of an HTTP date', () => {
    const date = 'Sun, 06 Nov 1994 08:49:37 GMT';
    expect(waitOf({ 'retry-after': 'Sunday, 06-Nov-94 08:49:47 GMT', date })).toBe(10_000);
    expect(waitOf({ 'retry-after': 'Sun, 06 Nov 1994 08:50:37 GMT', date })).toBe(60_000);
  });

  it('takes what a proxy passes on where that says nothing itself', () => {
    expect(waitOf({ 'llm_provider-retry-after': '7' })).toBe(7000);
    expect(waitOf({ 'llm_provider-retry-after-ms': '70', 'llm_provider-retry-after': '7' })).toBe(
      70,
    );
    expect(waitOf({ 'llm_provider-retry-after': '7', 'retry-after': '3' })).toBe(3000);
    expect(waitOf({ 'llm_provider-retry-after': '7', 'retry-after': '0' })).toBe(7000);
    const dates = { 'llm_provider-date': inUtc(NOW - 9000), date: inUtc(NOW) };
    expect(waitOf({ ...dates, 'llm_provider-retry-after': inUtc(NOW) })).toBe(9000);
    expect(waitOf({ date: inUtc(NOW - 5000), 'llm_provider-retry-after': inUtc(NOW) })).toBe(5000);
  });

  it('takes the exact wait of Traefik before its rounded one', () => {
    expect(waitOf({ 'x-retry-in': '68.089159ms', 'retry-after': '1' })).toBe(68.089159);
    expect(waitOf({ 'x-retry-in': '1m2.5s', 'retry-after': '63' })).toBe(62_500);
    for (const useless of ['', '0s', '-1s', '5', 'soon', '68.089159µs']) {
      expect(waitOf({ 'x-retry-in': useless, 'retry-after': '1' })).toBe(1000);
    }
  });

  it.each([
    ['Better Auth', { 'x-retry-after': '3' }, 3000],
    ['Symfony', { 'x-ratelimit-retry-after': '2' }, 2000],
    ['Symfony, a time', { 'x-ratelimit-retry-after': String((NOW + 4000) / 1000) }, 4000],
    ['Bucket4j', { 'x-rate-limit-retry-after-seconds': '7' }, 7000],
    ['Cosmos DB', { 'x-ms-retry-after-ms': '120' }, 120],
    ['Nest, of two limits', { 'retry-after-short': '1', 'retry-after-long': '15' }, 15_000],
  ])('reads the header of %s', (_name, headers, ms) => {
    expect(waitOf(headers)).toBe(ms);
    expect(waitOf({ ...headers, 'retry-after': '9' })).toBe(9000);
    expect(waitOf({ ...headers, 'retry-after': '0' })).toBe(ms);
  });

  it.each<Record<string, string>>([
    { 'x-retry-after': '0' },
    { 'x-retry-after': 'later' },
    { 'x-ratelimit-retry-after': String((NOW - 4000) / 1000) },
    { 'x-retry-after': '99999999' },
    { 'x-ms-retry-after-ms': '1e3' },
    { 'access-control-expose-headers': 'Retry-After' },
    { 'x-retries': '5' },
  ])('finds no wait in %j', (headers) => {
    expect(waitOf(headers)).toBeUndefined();
  });

  it('takes retry-after-ms first, where it says something', () => {
    expect(waitOf({ 'retry-after-ms': '250', 'retry-after': '9' })).toBe(250);
    expect(waitOf({ 'retry-after-ms': '0.5', 'retry-after': '9' })).toBe(0.5);
    for (const useless of ['', '0', '-1', 'NaN', 'soon', '1e3']) {
      expect(waitOf({ 'retry-after-ms': useless, 'retry-after': '9' })).toBe(9000);
    }
  });

  it.each([
    '',
    ' ',
    '0',
    '0.0',
    '-5',
    '+5',
    'NaN',
    'Infinity',
    '1e3',
    '0x10',
    '1,5',
    '1, soon',
    '0, 0',
    '5s',
    '.',
    '-',
    'null',
    '1 2',
    '9'.repeat(400),
    inUtc(NOW - 1000),
    inUtc(NOW),
    'Thu, 99 Foo 2999 99:99:99 GMT',
  ])('takes no notice of Retry-After: %j', (text) => {
    expect(waitOf({ 'retry-after': text })).toBeUndefined();
  });

  it('takes for a date only what has a time of day', () => {
    // JavaScript reads a year or a month into nearly any text with a number.
    const date = inUtc(Date.UTC(1999, 0, 1));
    for (const text of ['-5', 'in 2099', 'retry 12', '2099-1', 'later (2050)', '5 Jan']) {
      expect(waitOf({ 'retry-after': text })).toBeUndefined();
      expect(waitOf({ 'retry-after': text, date })).toBeUndefined();
    }
  });

  it('never throws and says nothing or a finite number above 0, whatever it is given', () => {
    const text = fc.oneof(
      anyText(),
      fc.double().map(String),
      fc.maxSafeInteger().map(String),
      fc.date().map((date) => (Number.isNaN(date.getTime()) ? 'x' : date.toUTCString())),
      fc.stringMatching(/^[\d.:eE+\-, GMTZ]{0,30}$/),
    );
    const headers = fc.record(
      {
        'retry-after': text,
        'retry-after-ms': text,
        'x-retry-in': text,
        'retry-after-short': text,
        'x-ms-retry-after-ms': text,
        date: text,
      },
      { requiredKeys: [] },
    );
    const seen = { undefined: 0, number: 0 };
    fc.assert(
      fc.property(headers, fc.double(), (given, now) => {
        const ms = retryAfterOf(given, () => now);
        seen[ms === undefined ? 'undefined' : 'number'] += 1;
        expect(ms === undefined || (Number.isFinite(ms) && ms > 0)).toBe(true);
      }),
      { numRuns: runs(1_000) },
    );
    expect(Math.min(seen.undefined, seen.number)).toBeGreaterThan(100);
  });
});

import { expect, it } from 'vitest';
import { duration, perWindow, shownName } from '../../src/inspector/format.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;

it('a duration has the unit of the number that it is rounded to', () => {
  expect(duration(999.4)).toBe('999 ms');
  expect(duration(999.6)).toBe('1.0 s');
  expect(duration(9_940)).toBe('9.9 s');
  expect(duration(9_960)).toBe('10 s');
  expect(duration(59_600)).toBe('1 min');
});

it('a duration of days is told in days', () => {
  expect(duration(DAY)).toBe('24 h');
  expect(duration(2 * DAY - SECOND)).toBe('47 h 59 min');
  expect(duration(2 * DAY)).toBe('2 d');
  expect(duration(30 * DAY + 5 * HOUR)).toBe('30 d 5 h');
});

it('a usual window has a name', () => {
  expect(perWindow(HOUR)).toBe('an hour');
  expect(perWindow(DAY)).toBe('a day');
  expect(perWindow(30 * DAY)).toBe('in 30 d');
});

it('a name that would reorder its sentence is shown with its marks written out', () => {
  expect(shownName('a\u202Eb\u2066', 40)).toBe('a\\u202eb\\u2066');
  expect(shownName('\u05E9\u05DC\u05D5\u05DD', 40)).toBe('\u05E9\u05DC\u05D5\u05DD');
  expect(shownName('abcdef', 4)).toBe('abc…');
});

it('a blank name is shown in quotes', () => {
  expect(shownName('  ', 40)).toBe('"  "');
  expect(shownName('', 40)).toBe('""');
});

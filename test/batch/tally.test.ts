import { expect, it } from 'vitest';
import { duration, money, percent, rate, short } from '../../src/batch/screen/text.ts';
import { RateMeter } from '../../src/batch/tally.ts';

it('a rate is that of the last ten seconds, and a long one that of two minutes', () => {
  const meter = new RateMeter();
  expect(meter.perSecond(0)).toBeUndefined();
  for (let now = 0; now < 100_000; now += 100) meter.add(now);
  expect(meter.perSecond(100_000)).toBeCloseTo(10, 0);
  for (let now = 100_000; now < 120_000; now += 1_000) meter.add(now);
  expect(meter.perSecond(120_000)).toBeCloseTo(1, 0);
  expect(meter.longPerSecond(120_000)).toBeCloseTo(1_020 / 120, 0);
  expect(meter.perSecond(200_000)).toBe(0);
});

it.for([
  [duration(0), '0 s'],
  [duration(59_400), '59 s'],
  [duration(200_000), '3 min 20 s'],
  [duration(3_000_000), '50 min'],
  [duration(6_840_000), '1 h 54 min'],
  [duration(183_600_000), '2 d 3 h'],
  [rate(0.5), '30.0/min'],
  [rate(8.21), '8.2/s'],
  [rate(1_234), '1,234/s'],
  [short(999), '999'],
  [short(45_600), '45.6 k'],
  [short(12_140_000), '12.1 M'],
  [money(0), '0'],
  [money(0.00123), '0.0012'],
  [money(9.86), '9.86'],
  [percent(99_999, 100_000), '99.9 %'],
  [percent(1, 1), '100 %'],
  [percent(12, 42_861), '0.03 %'],
] as const)('%s', ([said, expected]) => {
  expect(said).toBe(expected);
});

import { expect, it } from 'vitest';
import { METRICS, type Metric } from '../../../src/telemetry/names.ts';

const timed = Object.values<Metric>(METRICS).filter(
  // A store answers within seconds, or is away.
  ({ name, instrument, unit }) =>
    instrument === 'histogram' && unit === 's' && !name.startsWith('headgate.store.'),
);

it.each(timed)('$name tells waits of hours apart, up to a day', ({ buckets = [] }) => {
  expect(buckets.at(-1)).toBe(24 * 60 * 60);
  expect(buckets.filter((bound) => bound >= 3_600).length).toBeGreaterThan(2);
  expect(buckets).toEqual([...new Set(buckets)].sort((a, b) => a - b));
});

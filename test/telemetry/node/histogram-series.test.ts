import { type DataPoint, type Histogram, MeterProvider } from '@opentelemetry/sdk-metrics';
import fc from 'fast-check';
import { afterEach, expect, it, vi } from 'vitest';
import { HistogramSeries, hrTimeOf } from '../../../src/telemetry/node/histogram-series.ts';
import { PullReader } from '../sdk.ts';

afterEach(() => vi.restoreAllMocks());

const NAMED = { 'headgate.name': 'default' };

/** Boundaries, and values of which many are boundaries or beside one. */
const scripts = fc
  .uniqueArray(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 0, maxLength: 30 })
  .map((boundaries) => boundaries.map((bound) => bound + 0).sort((a, b) => a - b))
  .chain((boundaries) => {
    const edge = fc
      .tuple(fc.constantFrom(0, ...boundaries), fc.constantFrom(0, 1, -1))
      .map(([bound, step]) => bound * (1 + step * Number.EPSILON));
    const odd = fc.constantFrom(-1, 0, Number.POSITIVE_INFINITY, 1e300);
    const value = fc.oneof(edge, edge, odd, fc.double({ min: 0, max: 2e6, noNaN: true }));
    return fc.record({
      boundaries: fc.constant(boundaries),
      // Each list is recorded between two collections.
      rounds: fc.array(fc.array(value, { maxLength: 20 }), { minLength: 1, maxLength: 4 }),
    });
  });

type Point = DataPoint<Histogram> | undefined;

function exceptSum(point: Point): unknown {
  return point && { ...point, value: { ...point.value, sum: undefined } };
}

it('tells what the aggregation of the SDK tells, whatever is recorded and whenever it is asked', async () => {
  let now = 1_700_000_000_123;
  vi.spyOn(Date, 'now').mockImplementation(() => now);
  await fc.assert(
    fc.asyncProperty(scripts, async ({ boundaries, rounds }) => {
      const reader = new PullReader();
      const meter = new MeterProvider({ readers: [reader] }).getMeter('test');
      const theirs = meter.createHistogram('values', {
        advice: { explicitBucketBoundaries: boundaries },
      });
      const ours = new HistogramSeries(NAMED, boundaries);
      for (const values of rounds) {
        for (const value of values) {
          now += 7;
          theirs.record(value, NAMED);
          ours.record(value);
        }
        now += 1_234.5;
        const { resourceMetrics } = await reader.collect();
        const points = resourceMetrics.scopeMetrics[0]?.metrics[0]?.dataPoints ?? [];
        const theirPoint = points[0] as Point;
        const point = ours.point(hrTimeOf(now));
        expect(exceptSum(point)).toEqual(exceptSum(theirPoint));
        // Theirs adds the sums of the rounds.
        const [sum = 0, theirSum = 0] = [point, theirPoint].map((one) => one?.value.sum);
        expect(sum === theirSum || Math.abs(sum / theirSum - 1) < 1e-12).toBe(true);
      }
    }),
  );
});

it('ignores what is no number, or below 0', () => {
  const series = new HistogramSeries(NAMED, [1]);
  for (const value of [Number.NaN, -1]) series.record(value);
  expect(series.point([0, 0])).toBeUndefined();
});

it('counts a value that is a boundary in the bucket below it', () => {
  const series = new HistogramSeries(NAMED, [1, 2]);
  for (const value of [1, 2, 2.5]) series.record(value);
  expect(series.point([0, 0])?.value.buckets.counts).toEqual([1, 1, 1]);
});

it('tells a state that later values do not change', () => {
  const series = new HistogramSeries(NAMED, [1]);
  expect(series.point([0, 0])).toBeUndefined();
  series.record(0.5);
  const point = series.point([0, 0]);
  series.record(0.5);
  expect(point?.value).toMatchObject({ count: 1, buckets: { counts: [1, 0] } });
});

import {
  type DataPoint,
  type Histogram,
  MeterProvider,
  type MetricProducer,
  type MetricReader,
} from '@opentelemetry/sdk-metrics';
import fc from 'fast-check';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { histogramOf } from '../../../src/telemetry/instruments.ts';
import { histogramFactories, type Metric, SCOPE } from '../../../src/telemetry/meter.ts';
import { METRICS } from '../../../src/telemetry/metrics.ts';
import {
  Aggregation,
  HistogramSeries,
  hrTimeOf,
  wantsAggregated,
} from '../../../src/telemetry/node/aggregation.ts';
import { loadPackages, type Packages } from '../../../src/telemetry/node/packages.ts';
import { Collected, PullReader } from '../sdk.ts';

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

let packages: Packages;
beforeAll(async () => {
  packages = await loadPackages();
});

const { requestDuration, chunkSize } = METRICS;

/** Readers of an SDK, and a way to record in the histograms of its meter. */
function sdk(producer?: MetricProducer, count = 1) {
  const metricProducers = producer === undefined ? [] : [producer];
  const readers = Array.from({ length: count }, () => new PullReader({ metricProducers }));
  const meter = new MeterProvider({ readers }).getMeter(SCOPE.name, SCOPE.version);
  const collect = async (reader = readers[0]) =>
    new Collected((await (reader as MetricReader).collect()).resourceMetrics);
  return { meter, readers, collect };
}

function aggregated(count?: number) {
  const aggregation = new Aggregation(packages);
  const rig = sdk(aggregation, count);
  histogramFactories.set(rig.meter, aggregation.make);
  return { ...rig, aggregation };
}

const named = (name: string) => ({ 'headgate.name': name });

describe('histograms that are handed over', () => {
  it('have the names, units, series and scope of those of the SDK', async () => {
    const ways = [sdk(), aggregated()];
    for (const { meter } of ways) {
      const durations = histogramOf(meter, requestDuration);
      durations({ ...named('a'), 'error.type': '429' }).record(2);
      durations(named('b')).record(0.005);
      durations({ 'error.type': '429', ...named('a') }).record(3);
      histogramOf(meter, chunkSize)(named('a')).record(4);
      histogramOf(meter, METRICS.waitDuration)(named('a'));
    }
    const [theirs, ours] = await Promise.all(ways.map(({ collect }) => collect()));
    expect(ours?.metrics.map(({ descriptor }) => descriptor.name)).toEqual([
      'headgate.request.duration',
      'headgate.chunk.size',
    ]);
    expect(ours?.scopes).toEqual(theirs?.scopes);
    const withoutTimes = ({ metrics = [] }: Partial<Collected> = {}) =>
      metrics.map(({ descriptor: { name, unit, description, valueType }, ...data }) => ({
        ...{ name, unit, description, valueType },
        ...data,
        dataPoints: data.dataPoints.map(({ attributes, value }) => ({ attributes, value })),
      }));
    expect(withoutTimes(ours)).toEqual(withoutTimes(theirs));
  });

  it('are told in whole to each of several readers, whenever it asks', async () => {
    const { meter, readers, collect } = aggregated(2);
    const seen = async (at: number) =>
      (await collect(readers[at])).histogram(requestDuration.name, {}, 'a');
    const durations = histogramOf(meter, requestDuration)(named('a'));
    durations.record(1);
    expect(await seen(0)).toEqual({ count: 1, sum: 1 });
    durations.record(2);
    expect(await seen(0)).toEqual({ count: 2, sum: 3 });
    expect(await seen(1)).toEqual({ count: 2, sum: 3 });
    expect(await seen(1)).toEqual({ count: 2, sum: 3 });
  });

  it('are one series for like attributes, and at most 2,000, the last for all others', async () => {
    const { meter, collect } = aggregated();
    const durations = histogramOf(meter, requestDuration);
    expect(durations({ a: 1, b: 2 })).toBe(durations({ b: 2, a: 1 }));
    for (let n = 0; n < 3_000; n += 1) durations(named(`n${n}`)).record(1);
    const points = (await collect()).points(requestDuration.name);
    // The series above has no values.
    expect(points).toHaveLength(1_999);
    const other = points.find(({ attributes }) => attributes['otel.metric.overflow'] === true);
    expect(other?.value).toMatchObject({ count: 3_000 - 1_998 });
  });
});

describe('a reader', () => {
  const { CUMULATIVE, DELTA } = { CUMULATIVE: 1, DELTA: 0 };
  it.each([
    ['all values since the start', CUMULATIVE, 0, true],
    ['those since it last asked', DELTA, 0, false],
    ['buckets of its own', CUMULATIVE, 5, false],
  ])('that wants %s', (_what, temporality, type, wants) => {
    const reader = new PullReader({
      aggregationTemporalitySelector: () => temporality,
      aggregationSelector: () => ({ type }),
    });
    expect(wantsAggregated(reader, packages)).toBe(wants);
  });
});

it('each histogram of headgate has boundaries', () => {
  const histograms = Object.values<Metric>(METRICS).filter((one) => one.instrument === 'histogram');
  for (const { buckets = [] } of histograms) expect(buckets.length).toBeGreaterThan(0);
});

import { MeterProvider, type MetricProducer, type MetricReader } from '@opentelemetry/sdk-metrics';
import { beforeAll, describe, expect, it } from 'vitest';
import { histogramOf } from '../../../src/telemetry/instruments.ts';
import { METRICS, type Metric } from '../../../src/telemetry/names.ts';
import { Aggregation, wantsAggregated } from '../../../src/telemetry/node/aggregation.ts';
import { loadPackages, type Packages } from '../../../src/telemetry/node/packages.ts';
import { histogramFactories } from '../../../src/telemetry/recorder.ts';
import { SCOPE } from '../../../src/telemetry/scope.ts';
import { Collected, PullReader } from '../sdk.ts';

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

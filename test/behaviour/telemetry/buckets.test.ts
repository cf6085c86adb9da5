import { metrics } from '@opentelemetry/api';
import { AggregationType, DataPointType, MeterProvider } from '@opentelemetry/sdk-metrics';
import { afterEach, expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import type { Metric } from '../../../src/telemetry/meter.ts';
import { METRICS } from '../../../src/telemetry/metrics.ts';
import { PullReader, unregister } from '../../telemetry/sdk.ts';

afterEach(unregister);

const timed = Object.values<Metric>(METRICS).filter(
  // A store answers within seconds, or is away.
  ({ name, instrument, unit }) =>
    instrument === 'histogram' && unit === 's' && !name.startsWith('headgate.store.'),
);

it.each(timed)('$name distinguishes waits of hours, up to a day', ({ buckets = [] }) => {
  expect(buckets.at(-1)).toBe(24 * 60 * 60);
  expect(buckets.filter((bound) => bound >= 3_600).length).toBeGreaterThan(2);
  expect(buckets).toEqual([...new Set(buckets)].sort((a, b) => a - b));
});

it('views of another SDK may choose exponential histograms, which get the same values', async () => {
  const reader = new PullReader();
  const aggregation = { type: AggregationType.EXPONENTIAL_HISTOGRAM } as const;
  const views = [{ instrumentName: 'headgate.*.duration', aggregation }];
  const provider = new MeterProvider({ readers: [reader], views });
  metrics.setGlobalMeterProvider(provider);
  const clock = new ManualClock();
  const limiter = createLimiter({ clock, concurrency: 1, adaptive: false });
  for (const ms of [400_000, 100_000]) {
    void limiter.run(() => new Promise<void>((resolve) => clock.setTimer(resolve, ms)));
  }
  await clock.runAllAsync();
  const { resourceMetrics } = await reader.collect();
  await provider.shutdown();
  const told = resourceMetrics.scopeMetrics
    .flatMap((scope) => scope.metrics)
    .filter(({ dataPointType }) => dataPointType === DataPointType.EXPONENTIAL_HISTOGRAM)
    .flatMap(({ descriptor, dataPoints }) =>
      dataPoints.map(({ value }) => [descriptor.name, value] as const),
    );
  // The second has waited for the first.
  expect(Object.fromEntries(told)).toMatchObject({
    'headgate.request.duration': { count: 2, min: 400, max: 500, sum: 900 },
    'headgate.gate.wait.duration': { count: 1, min: 400, max: 400, sum: 400 },
    'headgate.attempt.duration': { count: 2, min: 100, max: 400, sum: 500 },
  });
});

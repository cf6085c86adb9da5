import type { Meter, Observable } from '@opentelemetry/api';
import { METRICS, type Metric } from './names.ts';
import { histogramFactories, type RecorderOf } from './recorder.ts';

type Key = keyof typeof METRICS;
export type HistogramKey = {
  [K in Key]: (typeof METRICS)[K]['instrument'] extends 'histogram' ? K : never;
}[Key];
export type ObservedKey = Exclude<Key, HistogramKey>;

/** The instruments of one meter. */
export interface Instruments {
  readonly histograms: Readonly<Record<HistogramKey, RecorderOf>>;
  readonly observed: Readonly<Record<ObservedKey, Observable>>;
}

export function instrumentsOf(meter: Meter): Instruments {
  const histograms: Record<string, RecorderOf> = {};
  const observed: Record<string, Observable> = {};
  for (const [key, metric] of Object.entries<Metric>(METRICS)) {
    const { name, instrument, unit, meaning: description } = metric;
    const options = { unit, description };
    if (instrument === 'histogram') histograms[key] = histogramOf(meter, metric);
    else if (instrument === 'counter') observed[key] = meter.createObservableCounter(name, options);
    else if (instrument === 'gauge') observed[key] = meter.createObservableGauge(name, options);
    else observed[key] = meter.createObservableUpDownCounter(name, options);
  }
  return { histograms, observed } as unknown as Instruments;
}

/** Aggregated by its factory, else an instrument of the SDK, which looks each series up by value. */
export function histogramOf(meter: Meter, metric: Metric): RecorderOf {
  const aggregated = histogramFactories.get(meter)?.(metric);
  if (aggregated !== undefined) return aggregated;
  const { name, unit, meaning: description, buckets = [] } = metric;
  const advice = { explicitBucketBoundaries: [...buckets] };
  const histogram = meter.createHistogram(name, { unit, description, advice });
  return (attributes) => ({ record: (value) => histogram.record(value, attributes) });
}

import type { Histogram, Meter, Observable } from '@opentelemetry/api';
import { METRICS, type Metric } from './names.ts';

type Key = keyof typeof METRICS;
type HistogramKey = {
  [K in Key]: (typeof METRICS)[K]['instrument'] extends 'histogram' ? K : never;
}[Key];
export type ObservedKey = Exclude<Key, HistogramKey>;

/** The instruments of one meter. */
export interface Instruments {
  readonly histograms: Readonly<Record<HistogramKey, Histogram>>;
  readonly observed: Readonly<Record<ObservedKey, Observable>>;
}

export function instrumentsOf(meter: Meter): Instruments {
  const histograms: Record<string, Histogram> = {};
  const observed: Record<string, Observable> = {};
  for (const [key, metric] of Object.entries<Metric>(METRICS)) {
    const { name, unit, meaning: description, buckets } = metric;
    if (metric.instrument === 'histogram') {
      histograms[key] = meter.createHistogram(name, {
        unit,
        description,
        ...(buckets && { advice: { explicitBucketBoundaries: [...buckets] } }),
      });
    } else observed[key] = observable(meter, metric, { unit, description });
  }
  return { histograms, observed } as unknown as Instruments;
}

function observable(
  meter: Meter,
  { name, instrument }: Metric,
  options: { readonly unit: string; readonly description: string },
): Observable {
  if (instrument === 'counter') return meter.createObservableCounter(name, options);
  if (instrument === 'gauge') return meter.createObservableGauge(name, options);
  return meter.createObservableUpDownCounter(name, options);
}

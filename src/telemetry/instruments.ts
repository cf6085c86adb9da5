import type { Histogram, Meter, Observable } from '@opentelemetry/api';
import { ALL_METRICS, type METRICS, type Metric } from './names.ts';

/** The key of a gauge that a policy describes. */
export type PolicyKey = `policy.${string}`;

type Key = keyof typeof METRICS;
type HistogramKey = {
  [K in Key]: (typeof METRICS)[K]['instrument'] extends 'histogram' ? K : never;
}[Key];
/** Of a metric, or of a gauge that a policy describes. */
export type ObservedKey = Exclude<Key, HistogramKey> | PolicyKey;

/** The instruments of one meter. */
export interface Instruments {
  readonly histograms: Readonly<Record<HistogramKey, Histogram>>;
  readonly observed: Readonly<Record<ObservedKey, Observable>>;
}

export function instrumentsOf(meter: Meter): Instruments {
  const histograms: Record<string, Histogram> = {};
  const observed: Record<string, Observable> = {};
  for (const [key, metric] of Object.entries(ALL_METRICS)) {
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

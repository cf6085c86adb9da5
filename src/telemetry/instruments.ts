import type { Meter, Observable } from '@opentelemetry/api';
import { METRICS, type Metric } from './names.ts';
import { histogramOf, type RecorderOf } from './recorder.ts';

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
    if (metric.instrument === 'histogram') histograms[key] = histogramOf(meter, metric);
    else observed[key] = observable(meter, metric);
  }
  return { histograms, observed } as unknown as Instruments;
}

function observable(meter: Meter, { name, instrument, unit, meaning }: Metric): Observable {
  const options = { unit, description: meaning };
  if (instrument === 'counter') return meter.createObservableCounter(name, options);
  if (instrument === 'gauge') return meter.createObservableGauge(name, options);
  return meter.createObservableUpDownCounter(name, options);
}

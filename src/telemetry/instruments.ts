import type { Attributes, Meter, Observable } from '@opentelemetry/api';
import { ATTRIBUTES, Labels, MOST_VALUES } from './attributes.ts';
import { histogramFactories, type Metric, type Recorder, type RecorderOf } from './meter.ts';
import { METRICS } from './metrics.ts';

type Key = keyof typeof METRICS;
type HistogramKey = {
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

/**
 * The histogram that the meter's factory makes, or else an instrument of the SDK, which is slower.
 */
export function histogramOf(meter: Meter, metric: Metric): RecorderOf {
  const aggregated = histogramFactories.get(meter)?.(metric);
  if (aggregated !== undefined) return aggregated;
  const { name, unit, meaning: description, buckets = [] } = metric;
  const advice = { explicitBucketBoundaries: [...buckets] };
  const histogram = meter.createHistogram(name, { unit, description, advice });
  return (attributes) => ({ record: (value) => histogram.record(value, attributes) });
}

/**
 * The recorders of one histogram, for one name: one without attributes, and one for each value of
 * its first attribute. They are kept, so that no attributes have to be made for each recorded
 * value.
 */
function recordersOf(recorderOf: RecorderOf, name: Attributes, key: string) {
  const byValue = new Map<string, Recorder>();
  // The first rate limits have their own series; others share one.
  const limits = new Labels(MOST_VALUES);
  return {
    /** Without the attribute. */
    plain: recorderOf(name),
    /**
     * @param value of the first attribute; the caller bounds the number of values
     * @param limit the named rate limit, for a second attribute
     */
    of(value: string, limit?: string): Recorder {
      const label = limit && limits.of(limit);
      const id = label ? `${value} ${label}` : value;
      let recorder = byValue.get(id);
      if (recorder === undefined) {
        const named = label ? { [ATTRIBUTES.limit]: label } : undefined;
        recorder = recorderOf({ ...name, [key]: value, ...named });
        byValue.set(id, recorder);
      }
      return recorder;
    },
  };
}

export type Histograms = Readonly<Record<HistogramKey, ReturnType<typeof recordersOf>>>;

/** The histograms of one name. */
export function histogramsOf(name: Attributes, { histograms }: Instruments): Histograms {
  const recorders = Object.entries(histograms).map(([key, recorderOf]) => {
    const [attribute = ''] = METRICS[key as HistogramKey].attributes;
    return [key, recordersOf(recorderOf, name, attribute)] as const;
  });
  return Object.fromEntries(recorders) as Histograms;
}

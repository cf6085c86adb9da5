import type { Attributes, Histogram, Meter } from '@opentelemetry/api';
import type { Metric } from './describe.ts';

/** Records values of single requests in one series of a histogram. */
export interface Recorder {
  record(value: number): void;
}

/** Finds or makes the series of a histogram that has these attributes. */
export type RecorderOf = (attributes: Attributes) => Recorder;

/** Makes the histograms of a meter in place of its SDK. */
export type HistogramFactory = (metric: Metric) => RecorderOf;

const factories = new WeakMap<Meter, HistogramFactory>();

/** Has the histograms of this meter made by a factory. Call it before anything uses the meter. */
export function aggregateWith(meter: Meter, factory: HistogramFactory): void {
  factories.set(meter, factory);
}

/** Records in an instrument of the SDK, which looks the series up for each value. */
class InstrumentRecorder implements Recorder {
  readonly #histogram: Histogram;
  readonly #attributes: Attributes;

  constructor(histogram: Histogram, attributes: Attributes) {
    this.#histogram = histogram;
    this.#attributes = attributes;
  }

  record(value: number): void {
    this.#histogram.record(value, this.#attributes);
  }
}

/** A histogram of this meter: its factory's, else an instrument of its SDK. */
export function histogramOf(meter: Meter, metric: Metric): RecorderOf {
  const factory = factories.get(meter);
  if (factory !== undefined) return factory(metric);
  const { name, unit, meaning: description, buckets } = metric;
  const histogram = meter.createHistogram(name, {
    unit,
    description,
    ...(buckets && { advice: { explicitBucketBoundaries: [...buckets] } }),
  });
  return (attributes) => new InstrumentRecorder(histogram, attributes);
}

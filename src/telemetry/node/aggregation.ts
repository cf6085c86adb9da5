import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import type {
  CollectionResult,
  DataPoint,
  Histogram,
  HistogramMetricData,
  IMetricReader,
  MetricProducer,
} from '@opentelemetry/sdk-metrics';
import { type Metric, type Recorder, type RecorderOf, SCOPE } from '../meter.ts';
import type { Packages } from './packages.ts';

/**
 * One series of a histogram with explicit boundaries, in plain numbers. Recording a value takes a
 * few additions; the instrument of an SDK sorts and serialises the attributes first. The result is
 * the same as that of the SDK's aggregation.
 */
export class HistogramSeries implements Recorder {
  readonly #attributes: Attributes;
  /**
   * Upper bounds of the buckets, inclusive. One more bucket has the values above the last bound.
   */
  readonly #boundaries: readonly number[];
  /** The number of values in each bucket. A long run exceeds 32-bit integers. */
  readonly #counts: Float64Array;
  #count = 0;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;
  /** The wall clock at the first value, in ms. */
  #startedAt = 0;

  constructor(attributes: Attributes, boundaries: readonly number[]) {
    this.#attributes = attributes;
    this.#boundaries = boundaries;
    this.#counts = new Float64Array(boundaries.length + 1);
  }

  /** Ignores NaN and values below 0, as the SDK does. */
  record(value: number): void {
    if (!(value >= 0)) return;
    if (this.#count === 0) this.#startedAt = Date.now();
    this.#count += 1;
    this.#sum += value;
    if (value < this.#min) this.#min = value;
    if (value > this.#max) this.#max = value;
    const boundaries = this.#boundaries;
    let bucket = 0;
    while (bucket < boundaries.length && (boundaries[bucket] as number) < value) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
  }

  /** All values until now, as a data point of the SDK; undefined: there are none. */
  point(endTime: HrTime): DataPoint<Histogram> | undefined {
    if (this.#count === 0) return undefined;
    return {
      attributes: this.#attributes,
      startTime: hrTimeOf(this.#startedAt),
      endTime,
      value: {
        min: this.#min,
        max: this.#max,
        sum: this.#sum,
        count: this.#count,
        buckets: { boundaries: [...this.#boundaries], counts: Array.from(this.#counts) },
      },
    };
  }
}

/** Seconds and nanoseconds of a wall-clock time in ms. */
export function hrTimeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)];
}

/**
 * The most series of a histogram (the default of the SDK). The last one counts all further series.
 */
const MOST_SERIES = 2_000;
const OVERFLOW: Attributes = { 'otel.metric.overflow': true };

/** The series of one histogram, by their attributes. */
class AggregatedHistogram {
  readonly #metric: Metric;
  readonly #series = new Map<string, HistogramSeries>();

  constructor(metric: Metric) {
    this.#metric = metric;
  }

  readonly recorderOf: RecorderOf = (attributes) => {
    const key = keyOf(attributes);
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    if (this.#series.size < MOST_SERIES - 1) return this.#add(key, attributes);
    const overflow = keyOf(OVERFLOW);
    return this.#series.get(overflow) ?? this.#add(overflow, OVERFLOW);
  };

  #add(key: string, attributes: Attributes): HistogramSeries {
    const series = new HistogramSeries(attributes, this.#metric.buckets ?? []);
    this.#series.set(key, series);
    return series;
  }

  /** The data of the histogram; undefined: nothing was recorded. */
  collect({ AggregationTemporality, DataPointType }: Packages, now: number) {
    const endTime = hrTimeOf(now);
    const dataPoints: DataPoint<Histogram>[] = [];
    for (const series of this.#series.values()) {
      const point = series.point(endTime);
      if (point !== undefined) dataPoints.push(point);
    }
    if (dataPoints.length === 0) return undefined;
    const { name, unit, meaning: description } = this.#metric;
    const data: HistogramMetricData = {
      descriptor: { name, unit, description, valueType: ValueType.DOUBLE },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints,
    };
    return data;
  }
}

/**
 * Aggregates headgate's histograms for any number of readers of an SDK: each reader gets all values
 * since the start, independently of the others.
 */
export class Aggregation implements MetricProducer {
  readonly #packages: Packages;
  readonly #histograms: AggregatedHistogram[] = [];

  constructor(packages: Packages) {
    this.#packages = packages;
  }

  /** Makes one histogram. */
  readonly make = (metric: Metric): RecorderOf => {
    const histogram = new AggregatedHistogram(metric);
    this.#histograms.push(histogram);
    return histogram.recorderOf;
  };

  async collect(): Promise<CollectionResult> {
    const now = Date.now();
    const metrics = this.#histograms.flatMap(
      (histogram) => histogram.collect(this.#packages, now) ?? [],
    );
    const scopeMetrics = metrics.length === 0 ? [] : [{ scope: SCOPE, metrics }];
    // Readers take the SDK's resource.
    const resource = this.#packages.resources.emptyResource();
    return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
  }
}

/**
 * Whether a reader wants the data that an `Aggregation` collects: all values since the start, in
 * buckets with headgate's boundaries. `OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE` can make
 * a reader want only the values since its last collection.
 */
export function wantsAggregated(
  reader: IMetricReader,
  { AggregationTemporality, AggregationType, InstrumentType }: Packages,
): boolean {
  const { HISTOGRAM } = InstrumentType;
  return (
    reader.selectAggregationTemporality(HISTOGRAM) === AggregationTemporality.CUMULATIVE &&
    reader.selectAggregation(HISTOGRAM).type === AggregationType.DEFAULT
  );
}

/** A key that does not depend on the order of the attributes. */
function keyOf(attributes: Attributes): string {
  return JSON.stringify(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1)));
}

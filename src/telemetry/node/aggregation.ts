import { type Attributes, ValueType } from '@opentelemetry/api';
import type {
  CollectionResult,
  DataPoint,
  Histogram,
  HistogramMetricData,
  IMetricReader,
  MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { Metric } from '../describe.ts';
import type { RecorderOf } from '../recorder.ts';
import { SCOPE } from '../scope.ts';
import { HistogramSeries, hrTimeOf } from './histogram-series.ts';
import type { Packages } from './packages.ts';

/** How many series a histogram has (the default of the SDK); one of them counts all others. */
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

  /** Undefined: nothing was recorded. */
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
 * Aggregates headgate's histograms, and hands them to any number of readers of an SDK: each is told
 * all values since the start, whatever others have been told.
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
 * Whether a reader wants what an `Aggregation` has: all values since the start, in buckets with the
 * boundaries that headgate gives. With `OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE` it may
 * want the values since it last asked.
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

/** The same for the same attributes, whatever their order. */
function keyOf(attributes: Attributes): string {
  return JSON.stringify(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1)));
}

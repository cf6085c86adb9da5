import {
  type Attributes,
  createNoopMeter,
  type Meter,
  metrics,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { version } from '../model/version.ts';

/** The instrumentation scope of all metrics and spans. */
export const SCOPE = { name: 'headgate', version } as const;

/** The meter of the provider that is registered now; undefined: there is none. */
export function globalMeter(): Meter | undefined {
  const meter = metrics.getMeter(SCOPE.name, SCOPE.version);
  return meter === createNoopMeter() ? undefined : meter;
}

/** The tracer of the provider behind the API's proxy; undefined: no provider is registered. */
export function globalTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  if ('getDelegateTracer' in provider && typeof provider.getDelegateTracer === 'function') {
    const tracer: Tracer | undefined = provider.getDelegateTracer(SCOPE.name, SCOPE.version);
    return tracer;
  }
  return provider.getTracer(SCOPE.name, SCOPE.version);
}

export type Instrument = 'counter' | 'updowncounter' | 'gauge' | 'histogram';

/** The definition of a metric. */
export interface Metric {
  readonly name: string;
  readonly instrument: Instrument;
  /** The unit in UCUM notation. */
  readonly unit: string;
  /** Its attributes beside `headgate.name`, which all metrics have. */
  readonly attributes: readonly string[];
  readonly meaning: string;
  /** Boundaries of a histogram's buckets, in its unit. */
  readonly buckets?: readonly number[];
}

/** @returns a function that defines a metric with this instrument */
function definerOf<I extends Instrument>(instrument: I) {
  return (
    name: string,
    unit: string,
    attributes: readonly string[],
    meaning: string,
    buckets?: readonly number[],
  ) => ({ name, instrument, unit, attributes, meaning, buckets });
}

export const counter = definerOf('counter');
export const upDown = definerOf('updowncounter');
export const gauge = definerOf('gauge');
export const histogram = definerOf('histogram');

/** Records values of single requests in one series of a histogram. */
export interface Recorder {
  record(value: number): void;
}

/** Finds or makes the series of a histogram that has these attributes. */
export type RecorderOf = (attributes: Attributes) => Recorder;

/** Makes the histograms of a meter instead of its SDK. */
export type HistogramFactory = (metric: Metric) => RecorderOf;

/**
 * The histogram factory of each meter that has one. A factory is entered before the meter is used.
 * For any other meter the SDK makes the histograms.
 */
export const histogramFactories = new WeakMap<Meter, HistogramFactory>();

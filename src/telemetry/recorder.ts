import type { Attributes, Meter } from '@opentelemetry/api';
import type { Metric } from './describe.ts';

/** Records values of single requests in one series of a histogram. */
export interface Recorder {
  record(value: number): void;
}

/** Finds or makes the series of a histogram that has these attributes. */
export type RecorderOf = (attributes: Attributes) => Recorder;

/** Makes the histograms of a meter in place of its SDK. */
export type HistogramFactory = (metric: Metric) => RecorderOf;

/**
 * Factories by the meters whose histograms they make. Entered before anything uses the meter; for any
 * other meter its SDK makes them.
 */
export const histogramFactories = new WeakMap<Meter, HistogramFactory>();

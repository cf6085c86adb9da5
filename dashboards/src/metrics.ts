import { ATTRIBUTES } from '../../src/telemetry/attributes.ts';
import type { Metric } from '../../src/telemetry/meter.ts';
import { METRICS } from '../../src/telemetry/metrics.ts';

/** A metric, as the table of metrics calls it. */
export type MetricKey = keyof typeof METRICS;

/** What of a histogram is read. */
export type Part = 'bucket' | 'sum' | 'count';

/** The labels that the attributes become: dots are no part of a label's name. */
export const LABELS = {
  name: labelOf(ATTRIBUTES.name),
  gate: labelOf(ATTRIBUTES.gate),
  outcome: labelOf(ATTRIBUTES.outcome),
  mode: labelOf(ATTRIBUTES.mode),
  limit: labelOf(ATTRIBUTES.limit),
  source: labelOf(ATTRIBUTES.source),
  state: labelOf(ATTRIBUTES.state),
  reason: labelOf(ATTRIBUTES.reason),
  what: labelOf(ATTRIBUTES.what),
  kind: labelOf(ATTRIBUTES.kind),
  unit: labelOf(ATTRIBUTES.unit),
  meanwhile: labelOf(ATTRIBUTES.meanwhile),
  errorType: labelOf(ATTRIBUTES.errorType),
} as const;

/** What Prometheus' OTLP intake adds for a unit; a scraped name has none of it. */
const UNIT_SUFFIXES: Readonly<Record<string, string>> = {
  s: '_seconds',
  By: '_bytes',
  '{request}/s': '_per_second',
};

/**
 * A regular expression for the name of a metric in Prometheus, scraped or taken in by OTLP.
 *
 * @param part of a histogram, which has no series of its own name
 */
export function seriesName(key: MetricKey, part: Part = 'count'): string {
  const { name, instrument, unit }: Metric = METRICS[key];
  const isRatio = instrument === 'gauge' && unit === '1';
  const suffix = isRatio ? '_ratio' : (UNIT_SUFFIXES[unit] ?? '');
  const base = labelOf(name) + (suffix === '' ? '' : `(${suffix})?`);
  if (instrument === 'histogram') return `${base}_${part}`;
  return instrument === 'counter' ? `${base}_total` : base;
}

function labelOf(name: string): string {
  return name.replaceAll('.', '_');
}

import { LABELS, type MetricKey, type Part, seriesName } from './metrics.ts';

/** The quantiles of times and ratios that are drawn. */
export const QUANTILES = [
  ['p50', 0.5],
  ['p95', 0.95],
  ['p99', 0.99],
] as const;

/** Label matchers, such as `{ error_type: '="429"' }`. */
export type Matchers = Readonly<Record<string, string>>;

/** Grafana's own: at least four scrapes, so that a rate always has enough samples. */
export const WINDOW = '$__rate_interval';

/** The series of a metric, of the chosen job, instances and limiters. */
export function series(name: MetricKey, matchers: Matchers = {}, part?: Part): string {
  const chosen = { job: '="$job"', instance: '=~"$instance"', [LABELS.name]: '=~"$limiter"' };
  const all = { ...chosen, ...matchers };
  const written = Object.entries(all).map(([label, match]) => `${label}${match}`);
  return `{${[nameIs(seriesName(name, part)), ...written].join(', ')}}`;
}

/** The fewest characters that match a name: an equality where the name has one form. */
export function nameIs(pattern: string): string {
  return /[()?]/.test(pattern) ? `__name__=~"${pattern}"` : `__name__="${pattern}"`;
}

/** A sum over instances; `by` is what is kept apart. */
export function sum(by: readonly string[], expression: string): string {
  return by.length === 0 ? `sum(${expression})` : `sum by (${by.join(', ')}) (${expression})`;
}

/** A maximum over instances: for states, which cannot be added. */
export function max(by: readonly string[], expression: string): string {
  return by.length === 0 ? `max(${expression})` : `max by (${by.join(', ')}) (${expression})`;
}

/**
 * Series of which each instance has its own, and one for all instances that share a limiter's limits
 * through a store: each of those reports the whole limit, and what it uses of it itself.
 *
 * @param together what the instances of a limiter that is shared have together
 * @param kept labels that are kept apart, beside the limiter
 */
export function ownOrShared(
  together: 'max' | 'sum',
  selector: string,
  kept: readonly string[] = [],
): string {
  const sharing = `on (job, instance, ${LABELS.name}) ${series('fleetWorkers')}`;
  const by = ['job', LABELS.name, ...kept].join(', ');
  return `(${selector} unless ${sharing} or ${together} by (${by}) (${selector} and ${sharing}))`;
}

/** Growth a second, of each series. */
export function rate(selector: string): string {
  return `rate(${selector}[${WINDOW}])`;
}

/** Events a second of a counter. */
export function sumRate(
  by: readonly string[],
  name: MetricKey,
  matchers: Matchers = {},
  part?: Part,
): string {
  return sum(by, rate(series(name, matchers, part)));
}

/** The mean of each gauge over the window. */
export function meanOf(selector: string): string {
  return `avg_over_time(${selector}[${WINDOW}])`;
}

/** A quantile of a histogram. Nothing where nothing was recorded, rather than NaN. */
export function quantile(
  q: number,
  by: readonly string[],
  name: MetricKey,
  matchers: Matchers = {},
): string {
  return `histogram_quantile(${q}, ${sumRate(['le', ...by], name, matchers, 'bucket')}) >= 0`;
}

/** A quotient; nothing where there is nothing to divide by, rather than NaN or infinity. */
export function quotient(dividend: string, divisor: string): string {
  return `${dividend} / (${divisor} > 0)`;
}

/**
 * The highest value since the point before, so that what is short is not missed between two points.
 * Points may lie closer than scrapes: then it is the last value.
 */
export function sinceLastPoint(selector: string): string {
  return `(max_over_time(${selector}[$__interval]) or ${selector})`;
}

/** Like `expression`, and 0 where it has no series though `base` has one. */
export function orZero(expression: string, base: string): string {
  return `(${expression} or 0 * ${base})`;
}

/** Writes `text` into a label that is missing. */
export function labelMissing(label: string, text: string, expression: string): string {
  return `label_replace(${expression}, "${label}", "${text}", "${label}", "")`;
}

import { DashboardLinkBuilder, DashboardLinkType } from '@grafana/grafana-foundation-sdk/dashboard';

import { ATTRIBUTES, SPAN_NAMES } from '../../src/telemetry/attributes.ts';
import { chosen } from './chosen.ts';
import { LABELS } from './metrics.ts';

/** What is searched for. */
interface Search {
  readonly title: string;
  readonly tooltip: string;
  readonly operation: string;
  /** Attributes that a span must have. */
  readonly tags?: Readonly<Record<string, string>>;
  /** A duration as Jaeger writes it, such as `1s`. */
  readonly minDuration?: string;
}

/** Grafana puts the chosen limiter in here; what it puts in must not be encoded before. */
const CHOSEN_LIMITER = chosen('limiter:percentencode');

/**
 * Links to Jaeger's search page for the chosen time range.
 *
 * @param isForMany several limiters may be chosen, which one search cannot ask for
 */
export function jaegerSearches(isForMany: boolean): DashboardLinkBuilder[] {
  const searches: Search[] = [
    {
      title: 'Slow requests',
      tooltip: 'Requests that took over a second, in Jaeger: see which gate each of them waited at',
      operation: SPAN_NAMES.request,
      minDuration: '1s',
    },
    {
      title: 'Attempts with 429',
      tooltip: 'Attempts that were answered 429, in Jaeger: see when they were sent, and what next',
      operation: SPAN_NAMES.attempt,
      tags: { [ATTRIBUTES.errorType]: '429' },
    },
    {
      title: 'Long waits',
      tooltip: 'Waits of over a second at one gate, in Jaeger',
      operation: SPAN_NAMES.wait,
      minDuration: '1s',
    },
  ];
  return searches.map((search) => jaegerSearch(search, isForMany));
}

/** Of a series of attempts: those that ended with its error, in Jaeger. */
export function attemptsOfSeries(): DashboardLinkBuilder {
  const search: Search = {
    title: 'Attempts that ended so, in Jaeger',
    tooltip: 'Attempts that ended with this error: see when they were sent, and what came next',
    operation: SPAN_NAMES.attempt,
    tags: { [ATTRIBUTES.errorType]: seriesLabel(LABELS.errorType) },
  };
  return jaegerSearch(search, true);
}

/** Of a series of waits: those at its gate, in Jaeger. */
export function waitsOfSeries(): DashboardLinkBuilder {
  const search: Search = {
    title: 'Waits at this gate, in Jaeger',
    tooltip: 'Waits at this gate: see which requests waited, and for how long',
    operation: SPAN_NAMES.wait,
    tags: { [ATTRIBUTES.gate]: seriesLabel(LABELS.gate) },
  };
  return jaegerSearch(search, true);
}

/** Grafana puts a label of the series in here that a reader has clicked. */
function seriesLabel(label: string): string {
  return chosen(`__field.labels.${label}:percentencode`);
}

function jaegerSearch(search: Search, isForMany: boolean): DashboardLinkBuilder {
  return new DashboardLinkBuilder(search.title)
    .type(DashboardLinkType.Link)
    .icon('external link')
    .tooltip(search.tooltip)
    .url(searchUrl(search, isForMany))
    .targetBlank(true);
}

/** Jaeger takes microseconds, Grafana gives milliseconds. */
function searchUrl({ operation, tags, minDuration }: Search, isForMany: boolean): string {
  // Of the spans of a request only the outermost one tells the limiter.
  const isOfOne = !isForMany && operation === SPAN_NAMES.request;
  const wanted = { ...tags, ...(isOfOne ? { [ATTRIBUTES.name]: CHOSEN_LIMITER } : {}) };
  const parts = [
    `service=${chosen('service:percentencode')}`,
    `operation=${operation}`,
    'lookback=custom',
    `start=${chosen('__from')}000`,
    `end=${chosen('__to')}000`,
    'limit=50',
  ];
  if (minDuration !== undefined) parts.push(`minDuration=${minDuration}`);
  if (Object.keys(wanted).length > 0) parts.push(`tags=${encoded(wanted)}`);
  return `${chosen('jaeger')}/search?${parts.join('&')}`;
}

function encoded(tags: Readonly<Record<string, string>>): string {
  return encodeURIComponent(JSON.stringify(tags)).replaceAll(/%24%7B.*?%7D/g, decodeURIComponent);
}

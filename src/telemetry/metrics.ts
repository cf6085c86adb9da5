/** All metrics. Dashboards and documents use this table. */
import type { PolicyMetric } from '../model/gauge.ts';
import { POLICY_METRICS, type PolicyMetricKey } from '../policies/policies.ts';
import { ATTRIBUTES } from './attributes.ts';
import { FLEET_METRICS } from './fleet-metrics.ts';
import { counter, gauge, histogram, type Metric, upDown } from './meter.ts';

/** A gauge, and how the values of several instances become one. */
export interface GaugeMetric extends Metric, Pick<PolicyMetric, 'together'> {
  readonly instrument: 'gauge';
}

/** Seconds: from a quick local server to the day that a daily quota lasts. */
const SECONDS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600,
  10_800, 21_600, 43_200, 86_400,
];
const RATIOS = [0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.1, 1.25, 1.5, 2, 4, 10];
const BYTES = [
  64, 256, 1_024, 4_096, 16_384, 65_536, 131_072, 262_144, 1_048_576, 4_194_304, 16_777_216,
  67_108_864,
];
const ITEMS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048];

const { errorType, gate, kind, limit, mode, outcome } = ATTRIBUTES;
const { reason, source, unit, what } = ATTRIBUTES;

const OWN_METRICS = {
  requests: counter(
    'headgate.requests',
    '{request}',
    [outcome],
    'requests that have ended, by how',
  ),
  requestDuration: histogram(
    'headgate.request.duration',
    's',
    [errorType],
    'from arrival to the end, of requests that were not cancelled',
    SECONDS,
  ),
  waitDuration: histogram(
    'headgate.gate.wait.duration',
    's',
    [gate, limit],
    'how long requests waited for what, of those that had to wait',
    SECONDS,
  ),
  queued: upDown('headgate.request.queued', '{request}', [gate], 'requests that wait, by what for'),
  active: upDown('headgate.request.active', '{request}', [], 'attempts in flight'),
  requestSize: counter('headgate.request.size', 'By', [], 'bytes of requests that were sent'),
  estimate: histogram(
    'headgate.request.estimate',
    'By',
    [kind],
    'sizes that `byteEstimate` has estimated, by what from',
    BYTES,
  ),
  estimateRatio: histogram(
    'headgate.byte_estimate.ratio',
    '1',
    [unit],
    'estimated / really used, as answers tell it or `context.record` does, in bytes or tokens',
    RATIOS,
  ),
  rateDenied: counter(
    'headgate.rate_limit.denied',
    '{decision}',
    [limit],
    'how often a rate limit refused a request, or let the first of the queue wait: not how many wait',
  ),
  attempts: counter(
    'headgate.attempts',
    '{attempt}',
    [errorType],
    'calls to the API that have ended; less the requests: retries',
  ),
  tokens: counter(
    'headgate.tokens',
    '{token}',
    [],
    'tokens that answers say they have used, or that were recorded',
  ),
  attemptDuration: histogram(
    'headgate.attempt.duration',
    's',
    [errorType],
    'how long calls to the API took, of those whose end was waited for',
    SECONDS,
  ),
  givenUp: counter(
    'headgate.request.given_up',
    '{request}',
    [gate],
    'requests that ended while they waited, by what for: aborted, timed out, or given up for others',
  ),
  paused: gauge('headgate.paused', '1', [], '1: the limiter is paused, and sends nothing'),
  mode: gauge('headgate.mode', '1', [mode], '1: in this mode'),
  backoffDuration: histogram(
    'headgate.backoff.duration',
    's',
    [source],
    'how much each 429 has put off the opening of the backoff gate',
    SECONDS,
  ),
  ...FLEET_METRICS,
  adaptations: counter(
    'headgate.adaptations',
    '{change}',
    [what, reason],
    'changes of the adaptive rate or limit, by why',
  ),
  suspensions: counter(
    'headgate.suspensions',
    '{decision}',
    [reason],
    'decisions for all requests that wait: the API takes nothing for long, or cannot be reached',
  ),
  rateCuts: counter(
    'headgate.rate.cuts',
    '{cut}',
    [],
    'how often a 429 had the adaptive rate measured anew',
  ),
  chunkSize: histogram('headgate.chunk.size', '{item}', [], 'items in a chunk', ITEMS),
  chunkFlushes: counter(
    'headgate.chunk.flushes',
    '{chunk}',
    [reason],
    'chunks, by why they closed',
  ),
  progressCompleted: gauge('headgate.progress.completed', '{request}', [], 'ended, well or not'),
  progressExpected: gauge(
    'headgate.progress.expected',
    '{request}',
    [],
    'requests that there will be',
  ),
} as const satisfies Record<string, Metric>;

/** All metrics: the gauges of policies are as these describe them. */
export const METRICS: typeof OWN_METRICS & Readonly<Record<PolicyMetricKey, GaugeMetric>> = {
  ...OWN_METRICS,
  ...gaugesOf(POLICY_METRICS),
};

function gaugesOf<K extends string>(
  described: Readonly<Record<K, PolicyMetric>>,
): Readonly<Record<K, GaugeMetric>> {
  const gauges = Object.entries<PolicyMetric>(described).map(
    ([key, { name, unit, by, meaning, together }]) => {
      const attributes = by === undefined ? [] : [ATTRIBUTES[by]];
      return [key, { ...gauge(name, unit, attributes, meaning), together }] as const;
    },
  );
  return Object.fromEntries(gauges) as Record<K, GaugeMetric>;
}

/** All metrics. The dashboards and the reference are made from this table. */
import type { PolicyMetric } from '../model/gauge.ts';
import { POLICY_METRICS, type PolicyMetricKey } from '../policies/policies.ts';
import { ATTRIBUTES } from './attributes.ts';
import { FLEET_METRICS } from './fleet-metrics.ts';
import { counter, gauge, histogram, type Metric, upDown } from './meter.ts';

/** A gauge, and whether the values of several instances are added or the greatest is reported. */
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
  requests: counter('headgate.requests', '{request}', [outcome], 'ended requests, by outcome'),
  requestDuration: histogram(
    'headgate.request.duration',
    's',
    [errorType],
    'time from arrival to the end, of requests that were not cancelled',
    SECONDS,
  ),
  waitDuration: histogram(
    'headgate.gate.wait.duration',
    's',
    [gate, limit],
    'how long requests waited, by gate and named limit; only requests that had to wait',
    SECONDS,
  ),
  queued: upDown('headgate.request.queued', '{request}', [gate], 'requests that wait, by gate'),
  active: upDown('headgate.request.active', '{request}', [], 'attempts in flight'),
  requestSize: counter('headgate.request.size', 'By', [], 'bytes of requests that were sent'),
  estimate: histogram(
    'headgate.request.estimate',
    'By',
    [kind],
    'sizes that `byteEstimate` has estimated, by the kind of the item',
    BYTES,
  ),
  estimateRatio: histogram(
    'headgate.byte_estimate.ratio',
    '1',
    [unit],
    'estimated / used amount, in bytes or tokens; answers or `context.record` report the used amount',
    RATIOS,
  ),
  rateDenied: counter(
    'headgate.rate_limit.denied',
    '{decision}',
    [limit],
    'how often a rate limit or the cost budget refused a request or made the head of the queue wait; not how many wait',
  ),
  attempts: counter(
    'headgate.attempts',
    '{attempt}',
    [errorType],
    'ended calls to the API; minus the number of requests that were sent, this is the number of retries',
  ),
  tokens: counter(
    'headgate.tokens',
    '{token}',
    [],
    'used tokens, as answers or `context.record` report them',
  ),
  attemptDuration: histogram(
    'headgate.attempt.duration',
    's',
    [errorType],
    'how long calls to the API took; those of cancelled requests are left out',
    SECONDS,
  ),
  givenUp: counter(
    'headgate.request.given_up',
    '{request}',
    [gate],
    'requests that ended while they waited, by gate: aborted, timed out, or evicted for others; and those that found the queue full',
  ),
  paused: gauge('headgate.paused', '1', [], '1: the limiter is paused, and sends nothing'),
  mode: gauge('headgate.mode', '1', [mode], '1: in this mode'),
  backoffDuration: histogram(
    'headgate.backoff.duration',
    's',
    [source],
    'time by which each 429 has delayed the opening of the backoff gate',
    SECONDS,
  ),
  ...FLEET_METRICS,
  adaptations: counter(
    'headgate.adaptations',
    '{change}',
    [what, reason],
    'changes of the adaptive rate or limit, by reason',
  ),
  suspensions: counter(
    'headgate.suspensions',
    '{decision}',
    [reason],
    'decisions for all waiting requests: the API accepts nothing for long, or cannot be reached',
  ),
  rateCuts: counter(
    'headgate.rate.cuts',
    '{cut}',
    [],
    'how often the adaptive rate was measured anew after a 429',
  ),
  chunkSize: histogram('headgate.chunk.size', '{item}', [], 'items in a chunk', ITEMS),
  chunkFlushes: counter('headgate.chunk.flushes', '{chunk}', [reason], 'closed chunks, by reason'),
  progressCompleted: gauge('headgate.progress.completed', '{request}', [], 'ended requests'),
  progressExpected: gauge(
    'headgate.progress.expected',
    '{request}',
    [],
    'the total number of requests',
  ),
} as const satisfies Record<string, Metric>;

/** All metrics, with the gauges that the policies define. */
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

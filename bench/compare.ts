/** Evaluates the figures: ratios, differences, and whether goals are reached. */
import { type GateName, gateNames } from './gates.ts';
import { type Name, type WaitersTopic, waitersTopics } from './jobs.ts';
import type { Summary } from './statistics.ts';
import { type WatchName, watchNames } from './watching.ts';

/** The most that an operation may cost with 100,000 waiters, as a multiple of its cost with 100. */
const MAX_GROWTH = 3;

export type Goal = readonly [text: string, figure: number | null, sign: '>=' | '<=', bound: number];

export type Summaries = ReadonlyMap<Name, Summary>;

export function compare(summaries: Summaries) {
  const figure = (name: Name) => summaries.get(name)?.median ?? null;
  /** The tasks a second of an instrumented stream, computed from nanoseconds a task. */
  const watchedRate = (name: WatchName) => {
    const cost = figure(name);
    return cost === null ? null : 1e9 / cost;
  };
  const quotient = (over: number | null, under: number | null) =>
    over === null || under === null ? null : over / under;
  const ratio = (name: Name, base: Name) => quotient(figure(name), figure(base));
  const difference = (cost: number | null, without: number | null) =>
    cost === null || without === null ? null : cost - without;
  const more = (name: Name, base: Name) => difference(figure(name), figure(base));
  return {
    ratios: {
      throttle_vs_async_sema: ratio('headgate-throttle', 'async-sema'),
      run_vs_async_sema: ratio('headgate-run', 'async-sema'),
      throttle_all_vs_async_sema: ratio('headgate-throttle-all', 'async-sema'),
      run_all_vs_async_sema: ratio('headgate-run-all', 'async-sema'),
      throttle_vs_p_limit: ratio('headgate-throttle', 'p-limit'),
      throttle_vs_mergeMap: ratio('headgate-throttle', 'mergeMap'),
      per_request_1M_vs_10k: ratio('per-request-1M', 'per-request-10k'),
      keys_10k_vs_100: ratio('keys-10k', 'keys-100'),
      http_throttle_vs_p_limit: ratio('http-p-limit', 'http-throttle'),
      http_fetch_vs_p_limit: ratio('http-p-limit', 'http-limiter-fetch'),
      http_fetch_signal_vs_p_limit: ratio('http-p-limit-signal', 'http-limiter-fetch-signal'),
      metrics_vs_p_limit: quotient(watchedRate('telemetry-metrics'), figure('p-limit')),
      no_sdk_vs_no_telemetry: quotient(
        watchedRate('telemetry-no-sdk'),
        watchedRate('telemetry-off'),
      ),
    },
    /**
     * The additional cost over a baseline: metrics of `startTelemetry` over no telemetry; metrics
     * of another SDK over that SDK's own records; unsampled spans over metrics and one such span.
     */
    ns_of_metrics: more('telemetry-started', 'telemetry-off'),
    ns_of_metrics_beyond_records: difference(
      more('telemetry-metrics', 'telemetry-off'),
      figure('bare-records'),
    ),
    ns_of_unsampled_spans: difference(
      more('telemetry-1-percent', 'telemetry-metrics'),
      figure('bare-span'),
    ),
    bytes_per_waiting_request: figure('waiting-request'),
    bytes_per_waiting_run: figure('waiting-run'),
    bytes_per_waiting_request_all: figure('waiting-request-all'),
    bytes_per_waiting_run_all: figure('waiting-run-all'),
    ns_more_than_gate_none: record(gateNames, (name) => more(name, 'gate-none')),
    ns_more_than_telemetry_off: record(watchNames, (name) => more(name, 'telemetry-off')),
    waiters_100k_vs_100: record(waitersTopics, (topic) => ratio(`${topic}-100k`, `${topic}-100`)),
  };
}

export type Comparison = ReturnType<typeof compare>;

export function goalsOf(compared: Comparison): Goal[] {
  const { ratios, waiters_100k_vs_100 } = compared;
  return [
    ['throttle() / async-sema, tasks/s', ratios.throttle_vs_async_sema, '>=', 1.5],
    ['limiter.run / async-sema, tasks/s', ratios.run_vs_async_sema, '>=', 1],
    ['throttle() with every gate / async-sema', ratios.throttle_all_vs_async_sema, '>=', 2],
    ['limiter.run with every gate / async-sema', ratios.run_all_vs_async_sema, '>=', 1.3],
    ['cost of a request, at 1M / at 10k', ratios.per_request_1M_vs_10k, '<=', 1.2],
    ['request of a group, at 10,000 keys / at 100', ratios.keys_10k_vs_100, '<=', MAX_GROWTH],
    ['throttle(fetch) / p-limit + fetch', ratios.http_throttle_vs_p_limit, '>=', 0.97],
    ['limiter.fetch / p-limit + fetch', ratios.http_fetch_vs_p_limit, '>=', 0.93],
    ['ns more a request with metrics', compared.ns_of_metrics, '<=', 1_000],
    ['ns of metrics beyond bare records', compared.ns_of_metrics_beyond_records, '<=', 1_000],
    ['ns of spans beyond a bare one, unsampled', compared.ns_of_unsampled_spans, '<=', 800],
    ['throttle() with metrics collected / p-limit', ratios.metrics_vs_p_limit, '>=', 0.75],
    ['throttle() without an SDK / telemetry: false', ratios.no_sdk_vs_no_telemetry, '>=', 0.97],
    ['bytes a waiting request', compared.bytes_per_waiting_request, '<=', 40],
    ['bytes a waiting call of run', compared.bytes_per_waiting_run, '<=', 240],
    ...waitersTopics.map((topic): Goal => {
      const text = `${topic}, at 100,000 waiters / at 100`;
      return [text, waiters_100k_vs_100[topic] ?? null, '<=', MAX_GROWTH];
    }),
  ];
}

function record<Key extends GateName | WatchName | WaitersTopic>(
  keys: readonly Key[],
  figureOf: (key: Key) => number | null,
): Readonly<Record<string, number | null>> {
  return Object.fromEntries(keys.map((key) => [key, figureOf(key)]));
}

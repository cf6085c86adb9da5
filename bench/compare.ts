/** What the figures say: ratios, differences, and the goals that they reach. */
import { type GateName, gateNames } from './gates.ts';
import { type Name, type WaitersTopic, waitersTopics } from './jobs.ts';
import type { Summary } from './statistics.ts';

/** How many times what it costs at 100 waiters an operation may cost at 100,000. */
const MAX_GROWTH = 3;

export type Goal = readonly [text: string, figure: number | null, sign: '>=' | '<=', bound: number];

export type Summaries = ReadonlyMap<Name, Summary>;

export function compare(summaries: Summaries) {
  const figure = (name: Name) => summaries.get(name)?.median ?? null;
  const ratio = (name: Name, base: Name) => {
    const [over, under] = [figure(name), figure(base)];
    return over === null || under === null ? null : over / under;
  };
  const more = (name: Name, base: Name) => {
    const [cost, without] = [figure(name), figure(base)];
    return cost === null || without === null ? null : cost - without;
  };
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
    },
    bytes_per_waiting_request: figure('waiting-request'),
    bytes_per_waiting_run: figure('waiting-run'),
    bytes_per_waiting_request_all: figure('waiting-request-all'),
    bytes_per_waiting_run_all: figure('waiting-run-all'),
    ns_more_than_gate_none: record(gateNames, (name) => more(name, 'gate-none')),
    waiters_100k_vs_100: record(waitersTopics, (topic) => ratio(`${topic}-100k`, `${topic}-100`)),
  };
}

export type Comparison = ReturnType<typeof compare>;

export function goalsOf(compared: Comparison): Goal[] {
  const { ratios, bytes_per_waiting_request, waiters_100k_vs_100 } = compared;
  return [
    ['throttle() / async-sema, tasks/s', ratios.throttle_vs_async_sema, '>=', 1.5],
    ['limiter.run / async-sema, tasks/s', ratios.run_vs_async_sema, '>=', 1],
    ['throttle() with every gate / async-sema', ratios.throttle_all_vs_async_sema, '>=', 1.5],
    ['limiter.run with every gate / async-sema', ratios.run_all_vs_async_sema, '>=', 1],
    ['cost of a request, at 1M / at 10k', ratios.per_request_1M_vs_10k, '<=', 1.2],
    ['request of a group, at 10,000 keys / at 100', ratios.keys_10k_vs_100, '<=', MAX_GROWTH],
    ['bytes a waiting request', bytes_per_waiting_request, '<=', 400],
    ...waitersTopics.map((topic): Goal => {
      const text = `${topic}, at 100,000 waiters / at 100`;
      return [text, waiters_100k_vs_100[topic] ?? null, '<=', MAX_GROWTH];
    }),
  ];
}

function record<Key extends GateName | WaitersTopic>(
  keys: readonly Key[],
  figureOf: (key: Key) => number | null,
): Readonly<Record<string, number | null>> {
  return Object.fromEntries(keys.map((key) => [key, figureOf(key)]));
}

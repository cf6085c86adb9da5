import type { GateKind } from 'headgate';
import type { LimitsReport } from './report-limits.ts';
import { type Failure, GATES, type Tally } from './tally.ts';

/** Milliseconds over all ended requests, including those that did not wait. */
export interface Percentiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The waits at one gate. */
export interface Waits extends Percentiles {
  /** The number of requests that had to wait. */
  readonly requests: number;
}

/** The output of `--json`. */
export interface Report {
  /** `complete`: every prompt has its result. */
  readonly ended: 'complete' | 'error' | 'SIGINT' | 'SIGTERM';
  /** The reason why the run ended early. */
  readonly error: string | null;
  readonly prompts: number;
  readonly succeeded: number;
  readonly failed: number;
  /** The number of requests without a result, because the run ended early. */
  readonly unfinished: number;
  /** The number of calls. */
  readonly attempts: number;
  /** The number of calls that got a 429. */
  readonly rejected: number;
  /** The tokens of all answers, as counted by the server; null: not reported. */
  readonly tokens: number | null;
  readonly elapsedMs: number;
  readonly limits: LimitsReport;
  readonly waits: Readonly<Record<GateKind, Waits>>;
  /** The time in calls, over all attempts of a request. */
  readonly latency: Percentiles;
  /** The time from arrival to result. */
  readonly total: Percentiles;
  readonly goodput: {
    readonly requestsPerSecond: number;
    /** The rate that the provider's limits allow, without outages; null: not known. */
    readonly capacityPerSecond: number | null;
    /** The achieved rate as a share of the allowed one. */
    readonly share: number | null;
  };
  /** The failures by error; the first few errors. */
  readonly failures: readonly Failure[];
}

/** The data of an ended run. */
export interface RunFacts {
  readonly ended: Report['ended'];
  readonly error: string | null;
  readonly prompts: number;
  readonly attempts: number;
  readonly rejected: number;
  readonly tokens: number | undefined;
  readonly elapsedMs: number;
  readonly limits: LimitsReport;
  /** The number of requests that the provider's limits allowed during the run. */
  readonly capacity: number | undefined;
}

export function buildReport(tally: Tally, facts: RunFacts): Report {
  const { ended, error, prompts, attempts, rejected, tokens, elapsedMs, limits, capacity } = facts;
  const { succeeded, failed } = tally;
  const perSecond = (count: number) => (elapsedMs > 0 ? (count * 1000) / elapsedMs : 0);
  return {
    ended,
    error,
    prompts,
    succeeded,
    failed,
    unfinished: prompts - succeeded - failed,
    attempts,
    rejected,
    tokens: tokens ?? null,
    elapsedMs: Math.round(elapsedMs),
    limits,
    waits: waitsOf(tally),
    latency: percentilesOf(tally.latencies),
    total: percentilesOf(tally.durations),
    goodput: {
      requestsPerSecond: round(perSecond(succeeded), 2),
      capacityPerSecond: capacity === undefined ? null : round(perSecond(capacity), 2),
      share: capacity ? round(succeeded / capacity, 3) : null,
    },
    failures: tally.failures,
  };
}

function waitsOf({ waits }: Tally): Report['waits'] {
  const entries = GATES.map((gate) => {
    const requests = waits[gate].filter((waitMs) => waitMs > 0).length;
    return [gate, { ...percentilesOf(waits[gate]), requests }];
  });
  return Object.fromEntries(entries);
}

/** The percentile by nearest rank; 0 if there are no values. */
export function percentilesOf(values: readonly number[]): Percentiles {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0;
  return { p50Ms: round(at(0.5), 1), p99Ms: round(at(0.99), 1) };
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

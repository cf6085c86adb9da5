import type { GateKind } from 'headgate';
import type { LimitsReport } from './report-limits.ts';
import { type Failure, GATES, type Tally } from './tally.ts';

/** Milliseconds of all requests that ended, those that did not wait included. */
export interface Percentiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** What requests waited at one gate. */
export interface Waits extends Percentiles {
  /** Requests that had to wait there. */
  readonly requests: number;
}

/** What `--json` prints. */
export interface Report {
  /** `complete`: every prompt has its result. */
  readonly ended: 'complete' | 'error' | 'SIGINT' | 'SIGTERM';
  /** What ended the run early. */
  readonly error: string | null;
  readonly prompts: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Requests without a result, because the run ended early. */
  readonly unfinished: number;
  /** Calls made. */
  readonly attempts: number;
  /** Calls that were answered with 429. */
  readonly rejected: number;
  /** Of all answers, as the server counts them; null where it does not say. */
  readonly tokens: number | null;
  readonly elapsedMs: number;
  readonly limits: LimitsReport;
  readonly waits: Readonly<Record<GateKind, Waits>>;
  /** In calls, of all attempts together. */
  readonly latency: Percentiles;
  /** From arrival to result. */
  readonly total: Percentiles;
  readonly goodput: {
    readonly requestsPerSecond: number;
    /** What the provider's limits allow, its outages left out; null where nobody knows. */
    readonly capacityPerSecond: number | null;
    /** The one as a part of the other. */
    readonly share: number | null;
  };
  /** By error; the first few. */
  readonly failures: readonly Failure[];
}

/** What is known when a run has ended. */
export interface RunFacts {
  readonly ended: Report['ended'];
  readonly error: string | null;
  readonly prompts: number;
  readonly attempts: number;
  readonly rejected: number;
  readonly tokens: number | undefined;
  readonly elapsedMs: number;
  readonly limits: LimitsReport;
  /** Requests that the provider's limits allowed in the time. */
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

/** By nearest rank; 0 of nothing. */
export function percentilesOf(values: readonly number[]): Percentiles {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0;
  return { p50Ms: round(at(0.5), 1), p99Ms: round(at(0.99), 1) };
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

import type { GateKind, Outcome } from 'headgate';
import type { Prompt } from './prompts.ts';
import { latencyOf } from './results.ts';

/** The most different errors that are kept, and the most ids of requests for each. */
const KEPT_ERRORS = 5;
const KEPT_IDS = 3;

/** Requests that failed with the same message. */
export interface Failure {
  readonly error: string;
  count: number;
  /** The ids of the first few requests. */
  readonly ids: string[];
}

export const GATES = [
  'concurrency',
  'byteBudget',
  'backoff',
  'circuitBreaker',
  'rateLimit',
  'pace',
  'retry',
] as const satisfies readonly GateKind[];

/** Adds up the outcomes of requests. */
export class Tally {
  succeeded = 0;
  failed = 0;
  /** The failures by error; the first few errors. */
  readonly failures: Failure[] = [];
  /** The wait of each request in milliseconds; 0: it did not wait. */
  readonly waits: Readonly<Record<GateKind, number[]>> = {
    concurrency: [],
    byteBudget: [],
    backoff: [],
    circuitBreaker: [],
    rateLimit: [],
    costBudget: [],
    pace: [],
    retry: [],
    paused: [],
    shared: [],
  };
  readonly latencies: number[] = [];
  readonly durations: number[] = [];

  add(outcome: Outcome<Prompt, string>): void {
    const { request, stats } = outcome;
    for (const gate of GATES) this.waits[gate].push(stats.waits[gate]?.waitMs ?? 0);
    this.latencies.push(latencyOf(outcome));
    this.durations.push(stats.durationMs);
    if (outcome.status === 'ok') {
      this.succeeded += 1;
      return;
    }
    this.failed += 1;
    const { error } = outcome;
    this.#keep(request.id, error instanceof Error ? error.message : String(error));
  }

  #keep(id: string, error: string): void {
    const known = this.failures.find((failure) => failure.error === error);
    if (known === undefined) {
      if (this.failures.length < KEPT_ERRORS) this.failures.push({ error, count: 1, ids: [id] });
      return;
    }
    known.count += 1;
    if (known.ids.length < KEPT_IDS) known.ids.push(id);
  }
}

import { appendFileSync, closeSync, openSync } from 'node:fs';
import type { Outcome } from 'headgate';
import type { Prompt } from './prompts.ts';

/** One line of the results file. */
export interface Result {
  readonly id: string;
  readonly index: number;
  readonly status: 'ok' | 'failed';
  readonly text?: string;
  readonly error?: string;
  readonly attempts: number;
  /** The waits in milliseconds by gate, without gates at which the request did not wait. */
  readonly waits: Readonly<Record<string, number>>;
  /** The time in calls over all attempts, in milliseconds. */
  readonly latencyMs: number;
}

/** The results file cannot be written. */
class ResultsError extends Error {}

/** The time in calls is the duration of a request minus its waits. */
export function latencyOf({ stats }: Outcome<unknown, unknown>): number {
  const waited = Object.values(stats.waits).reduce((sum, { waitMs }) => sum + waitMs, 0);
  return Math.max(0, stats.durationMs - waited);
}

export function resultOf(outcome: Outcome<Prompt, string>): Result {
  const { request, stats } = outcome;
  const waits = Object.entries(stats.waits).map(([gate, { waitMs }]) => [gate, tenths(waitMs)]);
  return {
    id: request.id,
    index: request.index,
    status: outcome.status,
    ...(outcome.status === 'ok'
      ? { text: outcome.value }
      : { error: outcome.error instanceof Error ? outcome.error.message : String(outcome.error) }),
    attempts: stats.attempts,
    waits: Object.fromEntries(waits),
    latencyMs: tenths(latencyOf(outcome)),
  };
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Writes results to a file as they come. Written lines are kept, however the process ends. */
export class ResultsFile {
  readonly #file: string;
  readonly #fd: number;

  /** Replaces an existing file. @throws ResultsError */
  constructor(file: string) {
    this.#file = file;
    this.#fd = this.#try(() => openSync(file, 'w'));
  }

  /** @throws ResultsError */
  write(result: Result): void {
    this.#try(() => appendFileSync(this.#fd, `${JSON.stringify(result)}\n`));
  }

  close(): void {
    closeSync(this.#fd);
  }

  #try<R>(action: () => R): R {
    try {
      return action();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new ResultsError(`cannot write ${this.#file}: ${why}`, { cause: error });
    }
  }
}

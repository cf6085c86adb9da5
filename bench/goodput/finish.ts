/** Compares the time for the same prompts: `throttle()` without options against the best peer. */
import { byCell, round } from './cells.ts';
import { type ClientName, clients, isClientName } from './clients/index.ts';
import type { Answer, Job } from './job.ts';
import type { FinishRun } from './run-cell.ts';

export interface Finish {
  /** The mean over the seeds; null: a run took more than an hour. */
  readonly finishedMs: number | null;
  /** 429s and 503s for each 1000 successes. */
  readonly rejectedPerMille: number;
}

/** By family, then by client. */
export type Finishes = Readonly<Record<string, Readonly<Partial<Record<ClientName, Finish>>>>>;

/** The time of `throttle()` divided by the time of the best peer. */
export interface FinishRatio {
  readonly family: string;
  readonly best: ClientName;
  readonly ratio: number;
}

/** @see FinishRatio */
export const WANTED_RATIO = 1.05;

export function finishesOf(jobs: readonly Job[], answers: readonly Answer[]): Finishes {
  const runs = jobs.map((_, index) => {
    const answer = answers[index];
    return answer?.status === 'ok' && answer.kind === 'finish' ? answer.run : undefined;
  });
  return byCell(jobs, runs, finishOf);
}

function finishOf(runs: readonly FinishRun[]): Finish {
  const times = runs.map(({ finishedMs }) => finishedMs).filter((ms) => ms !== undefined);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const successes = sum(runs.map((run) => run.successes));
  const rejected = sum(runs.map((run) => run.rejected));
  return {
    finishedMs: times.length < runs.length ? null : round(sum(times) / times.length, 0),
    rejectedPerMille: round((1000 * rejected) / Math.max(1, successes), 2),
  };
}

/** The peers: clients other than headgate that know the limits at most. */
export function ratiosOf(finishes: Finishes): FinishRatio[] {
  return Object.entries(finishes).flatMap(([family, row]) => {
    const own = row['headgate-headers']?.finishedMs;
    const peers = Object.keys(row)
      .filter(isClientName)
      .filter((name) => !name.startsWith('headgate') && clients[name].knows !== 'everything')
      .flatMap((name) => ({ name, ms: row[name]?.finishedMs ?? Number.POSITIVE_INFINITY }))
      .sort((a, b) => a.ms - b.ms);
    const [best] = peers;
    if (own === undefined || own === null || best === undefined) return [];
    return { family, best: best.name, ratio: round(own / best.ms, 3) };
  });
}

/** The figures of the table: one cell for each scenario and client, over all seeds. */

import type { CellRun } from './cell.ts';
import type { ClientName } from './clients/index.ts';
import type { Answer, Job } from './job.ts';

export interface Cell {
  /** In % of the amount that the provider allowed. */
  readonly goodput: number;
  /** 429s and 503s for each 1000 successes. */
  readonly rejectedPerMille: number;
  readonly waitP50Ms: number;
  readonly waitP99Ms: number;
}

/** By scenario, then by client. */
export type Cells = Readonly<Record<string, Readonly<Partial<Record<ClientName, Cell>>>>>;

export function cellsOf(jobs: readonly Job[], answers: readonly Answer[]): Cells {
  const runs = jobs.map((_, index) => {
    const answer = answers[index];
    return answer?.status === 'ok' && answer.kind === 'goodput' ? answer.run : undefined;
  });
  return byCell(jobs, runs, cellOf);
}

/** One figure for each scenario and client, of the runs with all seeds. */
export function byCell<R, F>(
  jobs: readonly Job[],
  runs: readonly (R | undefined)[],
  figureOf: (runs: readonly R[]) => F,
): Record<string, Partial<Record<ClientName, F>>> {
  const groups = new Map<string, Map<ClientName, R[]>>();
  jobs.forEach(({ scenario, client }, index) => {
    const run = runs[index];
    if (run === undefined) return;
    const row = groups.get(scenario.name) ?? new Map<ClientName, R[]>();
    groups.set(scenario.name, row);
    row.set(client, [...(row.get(client) ?? []), run]);
  });
  const rows = [...groups].map(([scenario, row]) => {
    const figures: Partial<Record<ClientName, F>> = {};
    for (const [client, of] of row) figures[client] = figureOf(of);
    return [scenario, figures] as const;
  });
  return Object.fromEntries(rows);
}

/** The reason why a figure is missing, by `scenario client seed`. */
export function failuresOf(
  jobs: readonly Job[],
  answers: readonly Answer[],
): Record<string, string> {
  const failures: Record<string, string> = {};
  jobs.forEach(({ scenario, client, seed }, index) => {
    const answer = answers[index];
    if (answer?.status === 'ok') return;
    failures[`${scenario.name} ${client} ${seed}`] = answer?.reason ?? 'the thread ended';
  });
  return failures;
}

/** The mean over runs of equal weight; rejections are counted over all runs together. */
function cellOf(runs: readonly CellRun[]): Cell {
  const sum = (figure: (run: CellRun) => number) =>
    runs.reduce((total, run) => total + figure(run), 0);
  const rejected = sum((run) => run.rejected);
  return {
    goodput: round(sum((run) => run.goodput) / runs.length, 2),
    rejectedPerMille: round(
      (1000 * rejected) /
        Math.max(
          1,
          sum((run) => run.successes),
        ),
      2,
    ),
    waitP50Ms: round(sum((run) => run.waitP50Ms) / runs.length, 0),
    waitP99Ms: round(sum((run) => run.waitP99Ms) / runs.length, 0),
  };
}

export function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}

/** The figures of the table: one cell for each scenario and client, over all seeds. */
import type { ClientName } from './clients/index.ts';
import type { Answer, Job } from './job.ts';
import type { CellRun } from './run-cell.ts';

export interface Cell {
  /** In % of what the provider allowed. */
  readonly goodput: number;
  /** 429s and 503s for each 1000 successes. */
  readonly rejectedPerMille: number;
  readonly waitP50Ms: number;
  readonly waitP99Ms: number;
}

/** By scenario, then by client. */
export type Cells = Readonly<Record<string, Readonly<Partial<Record<ClientName, Cell>>>>>;

export interface Results {
  readonly cells: Cells;
  /** By `scenario client seed`: why there is no figure. */
  readonly failures: Readonly<Record<string, string>>;
}

export function collect(jobs: readonly Job[], answers: readonly Answer[]): Results {
  const runs = new Map<string, Map<ClientName, CellRun[]>>();
  const failures: Record<string, string> = {};
  jobs.forEach(({ scenario, client, seed }, index) => {
    const answer = answers[index];
    if (answer?.status !== 'ok') {
      failures[`${scenario.name} ${client} ${seed}`] = answer?.reason ?? 'the thread ended';
      return;
    }
    const row = runs.get(scenario.name) ?? new Map<ClientName, CellRun[]>();
    runs.set(scenario.name, row);
    row.set(client, [...(row.get(client) ?? []), answer.run]);
  });
  const cells = [...runs].map(([scenario, row]) => [
    scenario,
    Object.fromEntries([...row].map(([client, of]) => [client, cellOf(of)])),
  ]);
  return { cells: Object.fromEntries(cells), failures };
}

/** Runs weigh the same, but for rejections, which are counted over all of them. */
export function cellOf(runs: readonly CellRun[]): Cell {
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

function round(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}

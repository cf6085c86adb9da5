/** The figures of the tables: one cell for each server and client. */
import type { ClientName } from './clients/index.ts';
import type { Run } from './job.ts';
import type { ServerName } from './kinds/index.ts';

export interface Cell extends Run {
  /** The number of requests that did not succeed. */
  readonly lost: number;
  /** `ms` divided by the time of a client with full knowledge; null: that time is 0. */
  readonly overIdeal: number | null;
}

export type Row = ReadonlyMap<ClientName, Cell>;
export type Cells = ReadonlyMap<ServerName, Row>;

export function cellOf(run: Run, requests: number, idealMs: number): Cell {
  return {
    ...run,
    ms: Math.round(run.ms),
    lost: requests - run.successes,
    overIdeal: idealMs > 0 ? Math.round((1000 * run.ms) / idealMs) / 1000 : null,
  };
}

/** A client compared with the fastest client that loses no request. */
export interface Ratio {
  readonly best: ClientName;
  /** Time of the client divided by the time of the best; null: it lost requests. */
  readonly ratio: number | null;
}

/** Undefined: the client did not run, or every client lost requests. */
export function ratioOf(row: Row, client: ClientName): Ratio | undefined {
  const own = row.get(client);
  const [best] = [...row]
    .filter(([, { lost }]) => lost === 0)
    .toSorted(([, a], [, b]) => a.ms - b.ms);
  if (own === undefined || best === undefined) return undefined;
  const [name, { ms }] = best;
  return { best: name, ratio: own.lost > 0 ? null : Math.round((1000 * own.ms) / ms) / 1000 };
}

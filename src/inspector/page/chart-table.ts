import { COLUMNS, type Point } from '../wire.ts';
import type { Line } from './chart-lines.ts';

/** Columns of numbers, the first of them seconds since 1970. */
export type Table = (number | null)[][];

/** The columns of some lines. */
export function tableOf(points: readonly Point[], lines: readonly Line[]): Table {
  const wanted = [0, ...lines.map(({ column }) => COLUMNS.indexOf(column))];
  return wanted.map((index) => points.map((point) => point[index] ?? null));
}

/** Each column on top of those before it, the last at the top. */
export function stacked(table: Table): Table {
  const [time = [], ...columns] = table;
  let below: (number | null)[] = time.map(() => 0);
  const sums = columns.map((column) => {
    below = column.map((value, row) => (value ?? 0) + (below[row] ?? 0));
    return below;
  });
  return [time, ...sums];
}

/** The greatest value between two times, in seconds since 1970; 0: there is none. */
export function greatest([time = [], ...columns]: Table, from: number, to: number): number {
  let max = 0;
  for (const [row, second] of time.entries()) {
    if (second === null || second < from || second > to) continue;
    for (const column of columns) max = Math.max(max, column[row] ?? 0);
  }
  return max;
}

/** The last row that is not after a time, in seconds since 1970; -1: there is none. */
export function rowAt([time = []]: Table, to: number): number {
  return time.findLastIndex((second) => second !== null && second <= to);
}

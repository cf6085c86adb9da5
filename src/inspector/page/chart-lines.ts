import { spaced } from '../format.ts';
import { COLUMNS, type Column, GATES, type Gate, type Point } from '../wire.ts';

/** One line of a chart. */
export interface Line {
  readonly column: Column;
  readonly label: string;
  /** The name of a colour of the style sheet. */
  readonly colour: string;
  readonly dash?: number[];
  readonly isArea?: boolean;
}

export const REQUESTS: readonly Line[] = [
  { column: 'sent', label: 'sent', colour: 'blue' },
  { column: 'ok', label: 'succeeded', colour: 'green' },
  { column: 'failed', label: 'failed', colour: 'yellow' },
  { column: 'throttled', label: '429s', colour: 'red', isArea: true },
  { column: 'rateSet', label: 'rate set', colour: 'ink', dash: [2, 3] },
  { column: 'rateTold', label: 'rate told', colour: 'purple', dash: [8, 4] },
  { column: 'rateLearned', label: 'rate learned', colour: 'orange', dash: [8, 4] },
];
export const FLIGHT: readonly Line[] = [
  { column: 'inFlight', label: 'in flight', colour: 'blue', isArea: true },
  { column: 'limit', label: 'limit', colour: 'ink', dash: [2, 3] },
];
export const VOLUME: readonly Line[] = [
  { column: 'bytes', label: 'bytes', colour: 'purple', isArea: true },
];
export const TOKENS: readonly Line[] = [
  { column: 'tokens', label: 'tokens', colour: 'green', isArea: true },
];

/** Words for gates whose name in the code is less clear. */
const NAMES: Readonly<Partial<Record<Gate, string>>> = {
  concurrency: 'slots',
  byteBudget: 'bytes',
  circuitBreaker: 'circuit',
  rateLimit: 'rate limits',
  retry: 'retry delay',
  paused: 'pause',
  shared: 'store',
};
const COLOURS: Readonly<Partial<Record<Gate, string>>> = {
  concurrency: 'blue',
  byteBudget: 'purple',
  backoff: 'red',
  circuitBreaker: 'ink',
  rateLimit: 'orange',
  pace: 'yellow',
  retry: 'green',
  paused: 'grey',
  shared: 'grey',
};

export const GATE_NAMES = ofEach((gate) => NAMES[gate] ?? spaced(gate));
export const GATE_COLOURS = ofEach((gate) => COLOURS[gate] ?? 'sky');

export const WAITING: readonly Line[] = GATES.map((gate) => ({
  column: gate,
  label: GATE_NAMES[gate],
  colour: GATE_COLOURS[gate],
  isArea: true,
}));

function ofEach(textOf: (gate: Gate) => string): Readonly<Record<Gate, string>> {
  return Object.fromEntries(GATES.map((gate) => [gate, textOf(gate)])) as Record<Gate, string>;
}

/** Columns of numbers, the first of them seconds since 1970. */
export type Table = (number | null)[][];

/** The columns of some lines. */
export function tableOf(points: readonly Point[], lines: readonly Line[]): Table {
  const wanted = [0, ...lines.map(({ column }) => COLUMNS.indexOf(column))];
  return wanted.map((index) => points.map((point) => point[index] ?? null));
}

/** A table in which each column is added to the sum of those before it. */
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

/** Prints the tables. */
import { loadavg } from 'node:os';
import { printTable, processor } from '../text.ts';
import { clients } from './clients/index.ts';
import { type Figures, GOALS, type Goal, type GoalName, isReached } from './goals.ts';
import type { Options } from './options.ts';
import type { Column } from './run.ts';

/** A column of the table. */
export interface Shown {
  readonly title: string;
  readonly figures: Figures;
  readonly load?: number;
}

export function shownOf({ client, processes, figures, load }: Column): Shown {
  const title = client === 'headgate' ? `${processes} processes` : client;
  return { title, figures, load };
}

export function printHead({ seconds }: Options): void {
  const load = loadavg()
    .map((average) => average.toFixed(1))
    .join(', ');
  const date = new Date().toISOString().slice(0, 10);
  console.log(
    `${date}, Node ${process.version}, ${processor()}, load average ${load}; loads of ${seconds} s`,
  );
}

export function printClients(names: readonly (keyof typeof clients)[]): void {
  printTable([['client', ''], ...names.map((name) => [name, clients[name].about])], 'left');
}

/** A table with a row for each figure and a column for each fleet. `!` marks a missed goal. */
export function printFigures(columns: readonly Shown[]): void {
  const names = (Object.keys(GOALS) as GoalName[]).filter((name) =>
    columns.some(({ figures }) => figures[name] !== undefined),
  );
  const rows = names.map((name) => [
    GOALS[name].about,
    goalText(name),
    ...columns.map(({ figures }) => figureText(name, figures[name])),
  ]);
  const loads = columns.some(({ load }) => load !== undefined)
    ? [['load average before', '', ...columns.map(({ load }) => load?.toFixed(1) ?? '')]]
    : [];
  printTable([['', 'goal', ...columns.map(({ title }) => title)], ...rows, ...loads]);
}

/** The figures that miss their goals. */
export function missedOf(columns: readonly Shown[]): string[] {
  return columns.flatMap(({ title, figures }) =>
    (Object.keys(figures) as GoalName[])
      .filter((name) => isReached(name, figures[name] ?? Number.NaN) === false)
      .map((name) => `${title}: ${figureText(name, figures[name])} ${GOALS[name].about}`),
  );
}

function goalText(name: GoalName): string {
  const { least, most, unit }: Goal = GOALS[name];
  if (least === undefined && most === undefined) return '';
  return `${least === undefined ? '<=' : '>='} ${least ?? most}${unit === '%' ? ' %' : ` ${unit}`}`.trim();
}

function figureText(name: GoalName, value: number | undefined): string {
  if (value === undefined) return '';
  const { unit }: Goal = GOALS[name];
  const text = Number.isFinite(value) ? digits(value) : 'never';
  const shown = unit === '' || unit === 'requests' ? text : `${text} ${unit}`;
  return isReached(name, value) === false ? `${shown} !` : shown;
}

function digits(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString('en-US');
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 3);
}

/** The tables that a person reads. */
import { printTable, processor } from '../text.ts';
import type { Cell, Results } from './cells.ts';
import { type ClientName, clients } from './clients/index.ts';
import type { Options } from './options.ts';

/** Columns a table has at most, beside the first, so that it fits a terminal. */
const COLUMNS = 10;

export function printReport(options: Options, results: Results): void {
  const { seeds, scenarios } = options;
  console.log(`Node ${process.version}, ${processor()}; virtual time, seeds ${seeds.join(', ')}`);
  printTable([['scenario', ''], ...scenarios.map(({ name, about }) => [name, about])], 'left');
  const named = options.clients.map((name) => [name, clients[name].about]);
  printTable([['client', ''], ...named], 'left');
  print('goodput, % of what the provider allowed', options, results, goodputText);
  print('429s and 503s for each 1000 successes', options, results, rejectedText);
  print('wait p50 / p99, seconds', options, results, waitText);
}

function print(
  title: string,
  { scenarios, clients }: Options,
  { cells }: Results,
  text: (cell: Cell) => string,
): void {
  for (let from = 0; from < scenarios.length; from += COLUMNS) {
    const some = scenarios.slice(from, from + COLUMNS);
    const row = (client: ClientName) =>
      some.map(({ name }) => {
        const cell = cells[name]?.[client];
        return cell === undefined ? 'failed' : text(cell);
      });
    printTable([
      [title, ...some.map(({ name }) => name)],
      ...clients.map((client) => [client, ...row(client)]),
    ]);
  }
}

export function goodputText({ goodput }: Cell): string {
  return goodput.toFixed(1);
}

/** Below ten a tenth matters. */
export function rejectedText({ rejectedPerMille }: Cell): string {
  return rejectedPerMille < 10
    ? rejectedPerMille.toFixed(1)
    : Math.round(rejectedPerMille).toLocaleString('en-US');
}

function waitText({ waitP50Ms, waitP99Ms }: Cell): string {
  return [waitP50Ms, waitP99Ms].map((ms) => (ms / 1000).toFixed(0)).join('/');
}

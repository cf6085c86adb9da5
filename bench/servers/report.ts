/** Prints the tables. */
import { printTable, processor, ratioText } from '../text.ts';
import { type Cell, type Cells, type Ratio, ratioOf } from './cells.ts';
import { type ClientName, clients } from './clients/index.ts';
import { type ServerName, servers } from './kinds/index.ts';
import type { Options } from './options.ts';

/** The settings of the run. */
export function printHead({ servers: names, clients: chosen, requests }: Options): void {
  console.log(`Node ${process.version}, ${processor()}; ${requests} requests, in real time`);
  printTable([['server', ''], ...names.map((name) => [name, servers[name].about])], 'left');
  printTable([['client', ''], ...chosen.map((name) => [name, clients[name].about])], 'left');
}

export function printCells(cells: Cells): void {
  const rows = [...cells].flatMap(([server, row]) =>
    [...row].map(([client, cell]) => [server, client, ...figuresOf(cell)]),
  );
  const heading = ['server', 'client', 'successes', 'rejected', 'errors', 'seconds', 'x ideal'];
  printTable([heading, ...rows]);
}

export function printRatios(ratios: readonly NamedRatio[]): void {
  const rows = ratios.map(({ server, client, ratio, best }) => [
    server,
    client,
    ratioText(ratio),
    best,
  ]);
  printTable([['server', 'client', 'time / best', 'best'], ...rows], 'left');
}

export interface NamedRatio extends Ratio {
  readonly server: ServerName;
  readonly client: ClientName;
}

/** Compares headgate's clients, for each server with a client that lost nothing. */
export function ratiosOf(cells: Cells): NamedRatio[] {
  return [...cells].flatMap(([server, row]) =>
    [...row.keys()]
      .filter((client) => client.startsWith('headgate'))
      .flatMap((client) => {
        const ratio = ratioOf(row, client);
        return ratio === undefined ? [] : [{ server, client, ...ratio }];
      }),
  );
}

/** Describes a cell in a progress line. */
export function lineOf(name: string, cell: Cell): string {
  const { successes, rejected, errors, ms, lost } = cell;
  const rest = [lost > 0 && `${lost} lost`, errors > 0 && `${errors} errors`].filter(Boolean);
  return [`${name}: ${successes} in ${seconds(ms)} s`, `${rejected} rejected`, ...rest].join(', ');
}

function figuresOf({ successes, rejected, errors, ms, overIdeal }: Cell): string[] {
  return [`${successes}`, `${rejected}`, `${errors}`, seconds(ms), ratioText(overIdeal)];
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

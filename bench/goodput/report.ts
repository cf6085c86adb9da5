/** Prints the tables. */
import { printTable, processor } from '../text.ts';
import type { Cell, Cells } from './cells.ts';
import { type ClientName, clients } from './clients/index.ts';
import type { Domination } from './dominated.ts';
import { type Finishes, type FinishRatio, WANTED_RATIO } from './finish.ts';
import type { Options } from './options.ts';

/** The most columns of a table after the first one, so that it fits a terminal. */
const COLUMNS = 10;

/** The settings of the run. */
export function printHead({ seeds, scenarios, clients: names }: Options): void {
  console.log(`Node ${process.version}, ${processor()}; virtual time, seeds ${seeds.join(', ')}`);
  printTable([['scenario', ''], ...scenarios.map(({ name, about }) => [name, about])], 'left');
  const named = names.map((name) => [name, clients[name].about]);
  printTable([['client', ''], ...named], 'left');
}

export function printTables(options: Options, cells: Cells): void {
  print('goodput, % of what the provider allowed', options, cells, goodputText);
  print('429s and 503s for each 1000 successes', options, cells, rejectedText);
  print('wait p50 / p99, seconds', options, cells, waitText);
}

function print<C>(
  title: string,
  { scenarios, clients }: Options,
  cells: Readonly<Record<string, Readonly<Partial<Record<ClientName, C>>>>>,
  text: (cell: C) => string,
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

/** A Markdown table of goodput / rejections. */
export function markdown({ scenarios, clients }: Options, cells: Cells): string {
  const line = (first: string, rest: readonly string[]) => `| ${[first, ...rest].join(' | ')} |`;
  const names = scenarios.map(({ name }) => name);
  return [
    line('client', names),
    line(
      '---',
      names.map(() => '---'),
    ),
    ...clients.map((client) => {
      const row = names.map((name) => cells[name]?.[client]);
      return line(
        client,
        row.map((cell) => (cell ? `${goodputText(cell)}/${rejectedText(cell)}` : '-')),
      );
    }),
  ].join('\n');
}

/**
 * Lists the cells in which a peer is better in both figures; first peers without more knowledge.
 */
export function printDominated(found: readonly Domination[]): void {
  for (const toldMore of [false, true]) {
    const some = found.filter((one) => one.toldMore === toldMore);
    const who = toldMore ? 'a peer that was told more' : 'a peer that was told no more';
    if (some.length === 0) {
      console.log(`\nIn no cell is ${who} better in both figures`);
      continue;
    }
    printTable([
      [`better in both: ${who}`, 'headgate', 'scenario', 'goodput', 'rejections'],
      ...some.map(({ by, client, scenario, moreGoodput, lessRejected }) => [
        by,
        client,
        scenario,
        `+${moreGoodput.toFixed(2)}`,
        `-${lessRejected.toFixed(2)}`,
      ]),
    ]);
  }
}

export function printFinish(
  options: Options,
  finishes: Finishes,
  ratios: readonly FinishRatio[],
): void {
  const [first] = options.scenarios;
  print(`seconds for ${first?.backlog ?? 0} prompts`, options, finishes, ({ finishedMs }) =>
    finishedMs === null ? 'too long' : (finishedMs / 1000).toFixed(1),
  );
  print('429s and 503s for each 1000 successes', options, finishes, rejectedText);
  printTable([
    ['family', 'best peer', 'ratio', 'wanted', ''],
    ...ratios.map(({ family, best, ratio }) => [
      family,
      best,
      ratio.toFixed(3),
      `<= ${WANTED_RATIO}`,
      ratio <= WANTED_RATIO ? 'reached' : 'not reached',
    ]),
  ]);
}

export function goodputText({ goodput }: Pick<Cell, 'goodput'>): string {
  return goodput.toFixed(1);
}

/** Prints one decimal below ten. */
export function rejectedText({ rejectedPerMille }: Pick<Cell, 'rejectedPerMille'>): string {
  return rejectedPerMille < 10
    ? rejectedPerMille.toFixed(1)
    : Math.round(rejectedPerMille).toLocaleString('en-US');
}

function waitText({ waitP50Ms, waitP99Ms }: Cell): string {
  return [waitP50Ms, waitP99Ms].map((ms) => (ms / 1000).toFixed(0)).join('/');
}

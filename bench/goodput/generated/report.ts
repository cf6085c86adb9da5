/** Prints the tables of generated runs. */
import { printTable, processor } from '../../text.ts';
import { generatedClients } from './clients/index.ts';
import { describeScenario } from './describe.ts';
import {
  type Figures,
  figuresBy,
  figuresOf,
  type GeneratedRun,
  isLong,
  isPlain,
  traits,
} from './figures.ts';
import type { SpaceOptions } from './options.ts';

type RunsByClient = ReadonlyMap<string, readonly GeneratedRun[]>;

/** The number of worst runs that are named. */
const NAMED = 10;

export function printSpaceHead({ seeds, clients, concurrency, stalls }: SpaceOptions): void {
  const range = `${seeds[0]} to ${seeds.at(-1)}`;
  console.log(`Node ${process.version}, ${processor()}; virtual time, seeds ${range}`);
  console.log(`Goodput in % of an omniscient client; the user allows ${concurrency} in flight`);
  if (stalls !== undefined) {
    const { stalledMs, runningMs } = stalls;
    console.log(`Each process stalls for ${stalledMs} ms after ${runningMs} ms, on average`);
  }
  printTable(
    [['client', ''], ...clients.map((name) => [name, generatedClients[name].about])],
    'left',
  );
}

/**
 * Rows for runs of two minutes or more, for those of them without change or outage, and for shorter
 * runs.
 */
export function printSummary(byClient: RunsByClient): void {
  const rows = (text: string, keeps: (run: GeneratedRun) => boolean) => [
    headingOf(text),
    ...[...byClient].map(([name, runs]) => rowOf(name, figuresOf(runs.filter(keeps)))),
  ];
  printTable(rows('two minutes or more', ({ scenario }) => isLong(scenario)));
  printTable(rows('of these: plain', ({ scenario }) => isLong(scenario) && isPlain(scenario)));
  printTable(rows('shorter', ({ scenario }) => !isLong(scenario)));
}

export function printTraits(client: string, runs: readonly GeneratedRun[]): void {
  for (const trait of traits) {
    const rows = Object.entries(figuresBy(trait, runs));
    printTable([
      headingOf(`${client} by ${trait}`),
      ...rows.map(([value, figures]) => rowOf(value, figures)),
    ]);
  }
}

export function printWorst(client: string, runs: readonly GeneratedRun[]): void {
  const least = runs.toSorted((a, b) => a.goodput - b.goodput);
  const most = runs.toSorted((a, b) => b.rejectedPerMille - a.rejectedPerMille);
  printRuns(`${client}: the least goodput`, client, least.slice(0, NAMED));
  printRuns(`${client}: the most rejections`, client, most.slice(0, NAMED));
}

function printRuns(title: string, client: string, runs: readonly GeneratedRun[]): void {
  console.log(`\n${title}`);
  for (const { scenario, goodput, rejectedPerMille } of runs) {
    const other = client === 'headgate' ? '' : ` --client ${client}`;
    console.log(
      `  ${goodput.toFixed(1)} %, ${perMille(rejectedPerMille)} 429s per 1,000: ${describeScenario(scenario)}`,
    );
    console.log(`    npm run bench:goodput -- --scenario ${scenario.seed}${other} --trace`);
  }
}

function headingOf(first: string): string[] {
  return [first, 'n', 'goodput', '25th', '5th', '429s per 1,000', '95th', 'worst', 'floods'];
}

function rowOf(name: string, { runs, goodput, rejected, floods }: Figures): string[] {
  const { median, p25, p5 } = goodput;
  return [
    name,
    `${runs}`,
    ...[median, p25, p5].map((part) => part.toFixed(1)),
    ...[rejected.median, rejected.p95, rejected.worst].map(perMille),
    `${floods}`,
  ];
}

/** Prints one decimal below ten. */
export function perMille(value: number): string {
  return value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en-US');
}

/** Measures a fleet of workers on one Redis: `npm run bench:fleet`, in docs/benchmarks.md. */
import { runBench } from '../arguments.ts';
import { PEERS } from './clients/index.ts';
import { type Options, readOptions, USAGE } from './options.ts';
import { INSTALL, isRedisInstalled } from './redis-server.ts';
import { missedOf, printClients, printFigures, printHead, type Shown, shownOf } from './report.ts';
import { type Column, runAll } from './run.ts';
import { runVirtual } from './virtual/run-virtual.ts';

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  const startMs = performance.now();
  const isReal = isRedisInstalled();
  printHead(options);
  const columns = isReal ? await runAll(options, console.error) : [];
  const virtual = options.parts.includes('virtual') ? await runVirtual(options) : [];
  print(columns, virtual, options);
  console.log(`\nAll took ${((performance.now() - startMs) / 1_000).toFixed(0)} s`);
  if (!isReal) console.log(`Redis was left out; to install it: ${INSTALL}`);
  const failures = columns.flatMap(({ client, processes, failures: failed }) =>
    Object.entries(failed).map(
      ([name, reason]) => `${client}, ${processes} processes, ${name}: ${reason}`,
    ),
  );
  for (const failure of failures) console.log(`Failed: ${failure}`);
  if (failures.length > 0) process.exitCode = 1;
  if (options.json) console.log(`\n${jsonOf(columns, virtual, isReal)}`);
}

function print(columns: readonly Column[], virtual: readonly Shown[], { parts }: Options): void {
  const isCompared = parts.includes('peers') && columns.length > 0;
  const count = isCompared ? PEERS.length + 1 : 0;
  const own = columns.slice(0, columns.length - count).map(shownOf);
  printFigures(own);
  printFigures(virtual);
  if (isCompared) {
    printClients(['headgate', ...PEERS]);
    printFigures(
      columns.slice(-count).map((column) => ({ ...shownOf(column), title: column.client })),
    );
  }
  if (own.length + virtual.length === 0) return;
  const missed = missedOf([...own, ...virtual]);
  console.log(missed.length === 0 ? '\nEvery goal is reached' : '\nGoals that are missed:');
  for (const line of missed) console.log(`  ${line}`);
}

/** Numbers that JSON does not have are null. */
function jsonOf(columns: readonly Column[], virtual: readonly Shown[], isReal: boolean): string {
  const leftOut = isReal ? {} : { redis: INSTALL };
  return JSON.stringify({ columns, virtual, leftOut, node: process.version });
}

await runBench(main, USAGE);

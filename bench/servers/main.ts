/** Measures headgate against real rate limiters, in real time: see ../README.md. */
import { runBench } from '../arguments.ts';
import type { Cells } from './cells.ts';
import { type ServerName, servers } from './kinds/index.ts';
import { readOptions, USAGE } from './options.ts';
import { lineOf, printCells, printHead, printRatios, ratiosOf } from './report.ts';
import { runAll } from './run.ts';
import type { Server } from './server.ts';

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  const leftOut = missingOf(options.servers);
  const here = options.servers.filter((name) => !Object.hasOwn(leftOut, name));
  const startMs = performance.now();
  const { cells, failures } = await runAll(options, here, (name, cell) =>
    console.error(lineOf(name, cell)),
  );
  const ratios = ratiosOf(cells);
  printHead(options);
  printCells(cells);
  printRatios(ratios);
  console.log(`\nAll took ${((performance.now() - startMs) / 1000).toFixed(0)} s`);
  for (const [name, install] of Object.entries(leftOut)) {
    console.log(`${name} was left out; to install it: ${install}`);
  }
  for (const [name, reason] of Object.entries(failures)) {
    console.log(`\n${name} failed: ${reason}`);
    process.exitCode = 1;
  }
  if (options.json) {
    const { requests } = options;
    const line = {
      requests,
      cells: plain(cells),
      ratios,
      leftOut,
      failures,
      node: process.version,
    };
    console.log(`\n${JSON.stringify(line)}`);
  }
  // Exit here: a client of this process that reached its bound may still have work.
  if (options.isCold) process.exit();
}

/** Prints how to install the missing programs. */
function missingOf(names: readonly ServerName[]): Record<string, string> {
  const missing: Record<string, string> = {};
  for (const name of names) {
    const server: Server = servers[name];
    const install = server.missing?.();
    if (install !== undefined) missing[name] = install;
  }
  return missing;
}

function plain(cells: Cells): object {
  return Object.fromEntries([...cells].map(([server, row]) => [server, Object.fromEntries(row)]));
}

await runBench(main, USAGE);

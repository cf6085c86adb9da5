/** Measures the goodput and the rejections of clients: see README.md. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { runBench } from '../arguments.ts';
import { USAGE } from './arguments.ts';
import { cellsOf, failuresOf } from './cells.ts';
import { dominated } from './dominated.ts';
import { finishesOf, ratiosOf } from './finish.ts';
import { reportSpace } from './generated/main-space.ts';
import { reportTrace } from './generated/main-trace.ts';
import { readGenerated } from './generated/options.ts';
import type { Answer, Job } from './job.ts';
import { type Options, readOptions } from './options.ts';
import { runJobs } from './pool.ts';
import { markdown, printDominated, printFinish, printHead, printTables } from './report.ts';
import { chart } from './svg.ts';

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  const generated = readGenerated(args);
  switch (generated?.kind) {
    case 'space':
      return reportSpace(generated);
    case 'trace':
      return reportTrace(generated);
    default:
      return reportNamed(readOptions(args));
  }
}

async function reportNamed(options: Options): Promise<void> {
  const { scenarios, clients, seeds, threads, kind } = options;
  const jobs = scenarios.flatMap((scenario) =>
    clients.flatMap((client) => seeds.map((seed) => ({ scenario, client, seed, kind }))),
  );
  const startMs = performance.now();
  const answers = await runJobs(jobs, threads);
  const seconds = (performance.now() - startMs) / 1000;
  printHead(options);
  const figures =
    kind === 'finish'
      ? reportFinish(jobs, answers, options)
      : reportGoodput(jobs, answers, options);
  console.log(`\n${jobs.length} runs took ${seconds.toFixed(1)} s`);
  const failures = failuresOf(jobs, answers);
  for (const [name, reason] of Object.entries(failures)) {
    console.log(`\n${name} failed: ${reason}`);
    process.exitCode = 1;
  }
  if (options.json) {
    console.log(`\n${JSON.stringify({ ...figures, failures, seeds, node: process.version })}`);
  }
}

function reportGoodput(jobs: readonly Job[], answers: readonly Answer[], options: Options): object {
  const { scenarios, clients } = options;
  const cells = cellsOf(jobs, answers);
  const found = dominated(cells);
  printTables(options, cells);
  printDominated(found);
  if (options.markdown) console.log(`\n${markdown(options, cells)}`);
  mkdirSync(dirname(options.chart), { recursive: true });
  const names = scenarios.map(({ name }) => name);
  writeFileSync(options.chart, chart(names, clients, cells));
  console.log(`\nThe chart is in ${options.chart}`);
  return { cells, dominated: found };
}

function reportFinish(jobs: readonly Job[], answers: readonly Answer[], options: Options): object {
  const finish = finishesOf(jobs, answers);
  const ratios = ratiosOf(finish);
  printFinish(options, finish, ratios);
  return { finish, ratios };
}

await runBench(main, USAGE);

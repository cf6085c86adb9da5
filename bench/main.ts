/** Measures headgate against other packages. README.md in this folder explains the measurements. */
import { runBench } from './arguments.ts';
import { compare } from './compare.ts';
import { measureAll } from './measure.ts';
import { readOptions } from './options.ts';
import { printReport } from './report.ts';
import { summarize } from './statistics.ts';
import { processor } from './text.ts';

const USAGE = 'usage: npm run bench -- [--json] [--rounds N] [--tasks N] [--only name,name]';

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  const { runs, failures } = await measureAll(options);
  const summaries = new Map([...runs].map(([name, figures]) => [name, summarize(figures)]));
  const compared = compare(summaries);
  printReport(options, summaries, compared);
  for (const [name, reason] of failures) {
    console.log(`\n${name} failed: ${reason}`);
    process.exitCode = 1;
  }
  if (options.json) {
    const medians = Object.fromEntries([...summaries].map(([name, { median }]) => [name, median]));
    const line = {
      ...compared,
      medians,
      runs: Object.fromEntries(runs),
      failures: Object.fromEntries(failures),
      jobs: Object.fromEntries(options.jobs),
      rounds: options.rounds,
      node: process.version,
      cpu: processor(),
    };
    console.log(`\n${JSON.stringify(line)}`);
  }
}

await runBench(main, USAGE);

/** Measures how full clients keep a provider, and how often they are turned away: see README.md. */
import { collect } from './cells.ts';
import { readOptions, USAGE, UsageError } from './options.ts';
import { runJobs } from './pool.ts';
import { printReport } from './report.ts';

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  const { scenarios, clients, seeds, threads } = options;
  const jobs = scenarios.flatMap((scenario) =>
    clients.flatMap((client) => seeds.map((seed) => ({ scenario, client, seed }))),
  );
  const startMs = performance.now();
  const answers = await runJobs(jobs, threads, (done) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${jobs.length} runs`);
  });
  const results = collect(jobs, answers);
  printReport(options, results);
  const seconds = (performance.now() - startMs) / 1000;
  console.log(`\n${jobs.length} runs took ${seconds.toFixed(1)} s`);
  for (const [name, reason] of Object.entries(results.failures)) {
    console.log(`\n${name} failed: ${reason}`);
    process.exitCode = 1;
  }
  if (options.json) {
    console.log(`\n${JSON.stringify({ ...results, seeds, node: process.version })}`);
  }
}

/** `parseArgs` throws TypeErrors whose codes say that the arguments are at fault. */
function isUsageError(error: unknown): error is Error {
  return (
    error instanceof UsageError ||
    (error instanceof TypeError && 'code' in error && `${error.code}`.startsWith('ERR_PARSE_ARGS'))
  );
}

try {
  await main();
} catch (error) {
  if (!isUsageError(error)) throw error;
  console.error(`${error.message}\n${USAGE}`);
  process.exitCode = 2;
}

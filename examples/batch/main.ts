/** Runs a file of prompts against a rate-limited API; see `npm run start:watched -- --help`. */
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import { readLimits } from './limits.ts';
import { HELP, type Options, readOptions, UsageError } from './options.ts';
import { readPrompts } from './prompts.ts';
import type { Report } from './report.ts';
import { formatReport, PLAIN, type Style } from './report-text.ts';
import { run } from './run.ts';
import { exitCodeOf } from './signals.ts';
import { hold, watch } from './watch.ts';

const COLOURS: Style = {
  strong: (text) => styleText('bold', text),
  faint: (text) => styleText('dim', text),
};

async function main(args: readonly string[]): Promise<number> {
  // The path from build/examples/batch.
  const examples = new URL('../../../examples/prompts.jsonl', import.meta.url);
  const options = readOptions(args, fileURLToPath(examples));
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const limits = readLimits(options, process.env);
  // Check all lines before the first request is sent, so that a typo in the last line costs
  // nothing.
  const prompts = await readPrompts(options.prompts, options.limit);
  const telemetry = await watch(options);
  try {
    const { report, limiter } = await run(prompts, options, limits);
    print(report, options);
    if (report.error !== null) console.error(`\nended early: ${report.error}`);
    // After a signal, exit without waiting.
    if (options.hold && !isStopped(report)) await hold(telemetry);
    limiter.close();
    return exitCode(report);
  } finally {
    await telemetry?.shutdown();
  }
}

function print(report: Report, { json }: Options): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(report)}\n`);
    return;
  }
  const coloured = process.stdout.isTTY && process.stdout.hasColors();
  process.stdout.write(formatReport(report, coloured ? COLOURS : PLAIN));
}

function exitCode({ ended, failed }: Report): number {
  if (ended === 'SIGINT' || ended === 'SIGTERM') return exitCodeOf(ended);
  return ended === 'error' || failed > 0 ? 1 : 0;
}

function isStopped({ ended }: Report): boolean {
  return ended === 'SIGINT' || ended === 'SIGTERM';
}

/** Ignores a closed output (`| head`): the run goes on. */
function ignoreBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

process.stdout.on('error', ignoreBrokenPipe);
process.stderr.on('error', ignoreBrokenPipe);
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  if (error instanceof UsageError)
    console.error('`npm run start:watched -- --help` lists the options');
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

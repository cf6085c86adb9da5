/** Reads the arguments that all modes of the benchmark share. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { readInteger, UsageError } from '../arguments.ts';

export { choose, listOf, readInteger, UsageError } from '../arguments.ts';

/** The seeds of measurements. Nothing was tuned with them; use 1, 2 and 3 for tuning. */
export const SEEDS: readonly number[] = [101, 102, 103];
export const CHART = 'build/goodput.svg';
/** The concurrency in generated runs, which is more than most providers need. */
export const CONCURRENCY = 2_000;

export const USAGE = `usage: npm run bench:goodput -- [options]
  --scenario a,b     scenarios by name, or files that end in .json; a * at the end stands for anything
  --client a,b       clients by name; a * at the end stands for anything
  --seed 101,102     default ${SEEDS.join(',')}. What was tuned was tuned with 1,2,3
  --seconds N        virtual seconds of each run, instead of the scenario's own
  --threads N        default: one a core, at most 8
  --chart file.svg   where the chart goes; default ${CHART}
  --finish           how long 2,000 prompts take against each family of providers, instead
  --markdown         prints the table as docs/benchmarks.md has it
  --json             prints one object last
generated providers, instead of the named scenarios:
  --generated N      N of them, drawn with the seeds S, S + 1, ...
  --seed S           default 1
  --client a,b       default headgate; all: every client
  --concurrency C    requests in flight that the user allows; default ${CONCURRENCY}
  --stalls A/B       the client and the provider get no turn for A ms after every B ms, on average
  --scenario SEED    one of them, by the number of its seed
  --trace            prints that run as it goes
  --svg file.svg     draws that run`;

/** @throws TypeError of `parseArgs` */
export function parseArguments(args: string[]) {
  return parseArgs({
    args,
    options: {
      json: { type: 'boolean' },
      markdown: { type: 'boolean' },
      scenario: { type: 'string' },
      client: { type: 'string' },
      finish: { type: 'boolean' },
      seed: { type: 'string' },
      seconds: { type: 'string' },
      threads: { type: 'string' },
      chart: { type: 'string' },
      generated: { type: 'string' },
      concurrency: { type: 'string' },
      stalls: { type: 'string' },
      trace: { type: 'boolean' },
      svg: { type: 'string' },
    },
  }).values;
}

export type Arguments = ReturnType<typeof parseArguments>;

/** @throws UsageError for options that have no effect in this mode */
export function refuse(
  values: Arguments,
  options: readonly (keyof Arguments)[],
  needed: string,
): void {
  for (const option of options) {
    if (values[option] !== undefined) {
      throw new UsageError(`--${option} goes with ${needed} alone, got "${values[option]}"`);
    }
  }
}

export function readThreads({ threads }: Arguments): number {
  return readInteger('--threads', threads ?? `${Math.min(8, availableParallelism())}`, 1);
}

/** @throws UsageError */
export function readSvgPath(option: string, path: string): string {
  if (path.endsWith('.svg')) return path;
  throw new UsageError(`${option} must be a file that ends in .svg, got "${path}"`);
}

import { BatchRun } from './batch-run.ts';
import { BatchError } from './errors.ts';
import type { BatchOptions } from './options.ts';
import type { BatchReport } from './progress.ts';

/** Options of the command, as messages name them, and what a program has in their place. */
const NAMES: Readonly<Record<string, string>> = {
  '--price-in and --price-out, or --prices FILE': '`prices`',
  '--model NAME': '`model`',
  '--model': '`model`',
  '--max-cost': '`maxCost`',
  '--template': '`template`',
  '--text': "`format: 'text'`",
  '--api chat': "`api: 'chat'`",
  '--api responses': "`api: 'responses'`",
  '--api embeddings': "`api: 'embeddings'`",
  '--changed rerun': "`changed: 'rerun'`",
  '--changed keep': "`changed: 'keep'`",
  '--out': '`output`',
  '--append': "`existing: 'append'`",
  '--overwrite': "`existing: 'overwrite'`",
  '--base-url': 'the base URL',
  '--proxy': 'the proxy',
};

const NAMED = new RegExp(`(?<![\\w-])(?:${Object.keys(NAMES).join('|')})(?![\\w-])`, 'g');

/** A message for the user of the command, for the author of a program. */
export function inProgram(message: string): string {
  return message.replace(NAMED, (name) => NAMES[name] ?? name);
}

/**
 * Sends the requests of files through a rate-limited API and appends their results to a file. The
 * file is the only state: after a crash, call it again with the same options to continue.
 *
 * @throws BatchError for an error before anything was sent; RangeError or TypeError that names
 * a wrong option
 * @example
 * const report = await runBatch({
 *   input: 'prompts.jsonl',
 *   output: 'results.jsonl',
 *   model: 'gpt-5-mini',
 *   send: async ({ body }, { signal }) => ({
 *     statusCode: 200,
 *     body: await client.post('/chat/completions', { body, signal }),
 *   }),
 *   requestsPerMinute: 500,
 * });
 */
export async function runBatch(options: BatchOptions): Promise<BatchReport> {
  try {
    const report = await new BatchRun(options).run();
    const { stop } = report;
    if (stop === undefined) return report;
    return { ...report, stop: { ...stop, message: inProgram(stop.message) } };
  } catch (error) {
    if (error instanceof BatchError) {
      error.message = inProgram(error.message);
      // It starts with the message of when the error was made.
      error.stack &&= inProgram(error.stack);
    }
    throw error;
  }
}

import { readFileSync } from 'node:fs';
import {
  createLimiter,
  type LimiterOptions,
  limiterOptionsFromEnv,
  limiterOptionsFromJSON,
  mergeLimiterOptions,
} from 'headgate';
import { type Options, UsageError } from './options.ts';

/** The default concurrency. */
const CONCURRENCY = 64;

/**
 * The limits of the run. Flags take precedence over the file of `--config`, and the file over the
 * environment. Requests wait behind an open circuit, unless a source says that they fail: a file of
 * prompts is not urgent.
 *
 * @throws UsageError that names the variable, or the file, and the option
 */
export function readLimits(
  { limits, config }: Pick<Options, 'limits' | 'config'>,
  env: NodeJS.ProcessEnv,
): LimiterOptions {
  const fromEnv = tried('', () => limiterOptionsFromEnv('HEADGATE', env));
  const fromFile = config === undefined ? {} : readConfig(config);
  return tried('', () => {
    const given = mergeLimiterOptions(limits, fromFile, fromEnv);
    const merged = mergeLimiterOptions(given, { concurrency: CONCURRENCY });
    // Check the merged options here, before anything is started.
    createLimiter(merged);
    return merged;
  });
}

function readConfig(file: string): LimiterOptions {
  return tried(`${file}: `, () => limiterOptionsFromJSON(readFileSync(file, 'utf8')));
}

/** @throws UsageError if `read` throws */
function tried<R>(place: string, read: () => R): R {
  try {
    return read();
  } catch (error) {
    throw new UsageError(place + wordsOf(error), { cause: error });
  }
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'there is no such file';
  return code === 'EISDIR' ? 'this is a directory, not a file' : error.message;
}

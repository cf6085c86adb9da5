import {
  createLimiter,
  type LimiterOptions,
  limiterOptionsFromEnv,
  limiterOptionsFromJSON,
  mergeLimiterOptions,
} from 'headgate';
import { BatchError, fileProblem } from '../errors.ts';
import { isObject, readJsonFile } from '../json.ts';
import type { ModelLimits } from '../pacer.ts';
import type { RunLimits } from '../queue/queue-job.ts';
import type { OptionValues } from './values.ts';

/** The limits that have their own options. @throws BatchError */
export function readShortLimits(values: OptionValues): Omit<RunLimits, 'at'> {
  const limits = defined({
    concurrency: values.integer('concurrency'),
    requestsPerMinute: values.integer('rpm'),
    tokensPerMinute: values.integer('tpm'),
  });
  tried('', () => createLimiter(limits).close());
  return limits;
}

/** @throws BatchError */
export function readModelLimits(values: OptionValues): ModelLimits | undefined {
  const file = values.text('limits');
  if (file === undefined) return undefined;
  const byModel = tried(`--limits ${file}: `, () => {
    const limits: unknown = JSON.parse(readJsonFile(file));
    if (!isObject(limits)) throw new TypeError('must be an object of limits by model');
    return limits;
  });
  const entries = Object.entries(byModel).map(([model, own]) => {
    const place = `--limits ${file}, ${JSON.stringify(model)}: `;
    const limits = tried(place, () => limiterOptionsFromJSON(JSON.stringify(own)));
    checkCharged(limits, () => place);
    return [model, limits] as const;
  });
  return Object.fromEntries(entries);
}

/** Options outweigh the file of --config, which outweighs the environment. */
export function readLimits(values: OptionValues, env: NodeJS.ProcessEnv): LimiterOptions {
  const file = values.text('config');
  const given: LimiterOptions = defined({
    ...readShortLimits(values),
    maxAttempts: values.integer('max-attempts'),
    deadlineMs: values.time('deadline'),
  });
  const fromEnv = tried('', () => limiterOptionsFromEnv('HEADGATE', env));
  const fromFile = file === undefined ? {} : tried(`--config ${file}: `, () => readConfig(file));
  return tried('', () => {
    const merged = mergeLimiterOptions(given, fromFile, fromEnv);
    checkCharged(merged, (name) => {
      const isOfFile = Object.hasOwn(fromFile.limits ?? {}, name);
      return isOfFile ? `--config ${file}: ` : `HEADGATE_LIMITS_${name.toUpperCase()}_*: `;
    });
    // Checks the merged limits before the input is read.
    createLimiter(merged).close();
    return merged;
  });
}

/** The limits whose charges a run knows. */
const CHARGED = ['requests', 'tokens', 'bytes'];

/**
 * @param placeOf where a limit was given, for the message
 * @throws BatchError for a limit that no request of a run would be charged for
 */
function checkCharged({ limits = {} }: LimiterOptions, placeOf: (name: string) => string): void {
  for (const [name, { charge = 'upfront' }] of Object.entries(limits)) {
    if (charge !== 'upfront' || CHARGED.includes(name)) continue;
    throw new BatchError(
      `${placeOf(name)}a run counts requests, tokens and bytes, so \`limits.${name}\` would never ` +
        'be charged: leave it out',
    );
  }
}

function readConfig(file: string): LimiterOptions {
  return limiterOptionsFromJSON(readJsonFile(file));
}

/** @throws BatchError where `read` throws */
function tried<R>(place: string, read: () => R): R {
  try {
    return read();
  } catch (error) {
    // The user of the command knows no function.
    const problem = fileProblem(error).replace(/limiterOptionsFrom(JSON|Env)/, 'the limiter');
    throw new BatchError(place + problem, { cause: error });
  }
}

/** The object without its undefined values. */
function defined<T extends object>(options: T): Partial<T> {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  // A `Partial` may lack keys, so the cast is safe.
  return Object.fromEntries(entries) as Partial<T>;
}

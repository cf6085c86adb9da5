import type { LimiterOptions } from 'headgate';
import { API_NAMES, type ApiName } from '../endpoint.ts';
import { BatchError } from '../errors.ts';
import type { ExistingOutput } from '../ledger/open-output.ts';
import { type Prices, readPriceFile } from '../money.ts';
import { type BatchOptions, CHANGED_LINES } from '../options.ts';
import type { RunLimits } from '../queue/queue-job.ts';
import { readLimits, readModelLimits, readShortLimits } from './limits.ts';
import { OF_WORKERS } from './option-table.ts';
import type { OptionValues } from './values.ts';

/** Default timeout of one call. */
export const TIMEOUT_MS = 10 * 60_000;

/** The longest timeout of one call: timers run for some 24.8 days at most. */
export const MAX_TIMEOUT_DAYS = 24;

/** The most requests of a run in the queue; twice `--concurrency` if that is more. */
const QUEUED = 1_000;

/** Lines for embeddings in one request: self-hosted servers often take no more. */
const GROUP_SIZE = 128;

/** The options of a run, without those of its destination. */
export interface RunOptions {
  readonly batch: Omit<BatchOptions, 'send' | 'signal' | 'abortSignal'>;
  readonly api: ApiName;
  readonly timeoutMs: number;
  /** The folder of the cache. */
  readonly cache: string | undefined;
  readonly isQuiet: boolean;
  /** Whether the inspector is served. */
  readonly isInspected: boolean;
  /** Whether, after the end of the run, the inspector is served until a signal. */
  readonly isHeld: boolean;
  readonly isJson: boolean;
  readonly isDry: boolean;
  /** The workers that send; undefined: this process does. */
  readonly workers:
    | {
        readonly redis: string;
        readonly queue: string;
        /** The limits that all workers share. */
        readonly limits: Omit<RunLimits, 'at'>;
      }
    | undefined;
}

/** @throws BatchError that names the wrong option */
export function readRunOptions(
  inputs: readonly string[],
  values: OptionValues,
  env: NodeJS.ProcessEnv,
): RunOptions {
  const isDry = values.flag('dry-run');
  const output = values.text('out');
  if (output === undefined && !isDry)
    throw new BatchError('--out FILE is missing: where results go');
  if (output === '-') {
    throw new BatchError('--out must be a file, got "-": results are read again to resume');
  }
  const workers = readWorkers(values);
  const api = values.choice('api', API_NAMES) ?? 'chat';
  const prices = readPrices(values, api);
  const batch = {
    ...(workers === undefined ? readLimits(values, env) : forWorkers(workers.limits)),
    input: inputs,
    output: output ?? '',
    api,
    model: values.text('model'),
    format: values.flag('text') ? ('text' as const) : undefined,
    template: values.text('template'),
    limit: values.integer('limit'),
    groupSize: values.integer('group') ?? GROUP_SIZE,
    limitsByModel: readModelLimits(values),
    existing: readExisting(values),
    changed: values.choice('changed', CHANGED_LINES),
    retryFailed: values.flag('retry-failed'),
    prices,
    maxCost: values.amount('max-cost'),
    outageMs: values.time('outage'),
  };
  const timeoutMs = values.time('timeout', MAX_TIMEOUT_DAYS) ?? TIMEOUT_MS;
  const isQuiet = values.flag('quiet');
  const cache = values.text('cache');
  const isInspected = values.flag('inspect');
  const isHeld = values.flag('hold');
  if (isHeld && !isInspected)
    throw new BatchError('--hold is for the page of --inspect: give both');
  const isJson = values.flag('json');
  return { batch, api, timeoutMs, cache, isQuiet, isInspected, isHeld, isJson, isDry, workers };
}

/** @throws BatchError for an option that only workers have */
function readWorkers(values: OptionValues): RunOptions['workers'] {
  const redis = values.text('redis');
  const queue = readQueue(values);
  if (redis === undefined) return undefined;
  const wrong = OF_WORKERS.find((name) => values.isGiven(name));
  if (wrong === undefined) return { redis, queue, limits: readShortLimits(values) };
  throw new BatchError(`--${wrong} is for those that send: give it to headgate work`);
}

/** Limits of a run with workers: the workers pace the requests and do the retries. */
function forWorkers({ concurrency = 0 }: Omit<RunLimits, 'at'>): LimiterOptions {
  return { concurrency: Math.max(QUEUED, 2 * concurrency), maxAttempts: 1, adaptive: false };
}

/** The name of a queue. @throws BatchError */
export function readQueue(values: OptionValues): string {
  const queue = values.text('queue') ?? 'headgate';
  if (!queue.includes(':')) return queue;
  throw new BatchError(`--queue must be without colons, got ${JSON.stringify(queue)}`);
}

function readExisting(values: OptionValues): ExistingOutput {
  if (values.flag('append') && values.flag('overwrite')) {
    throw new BatchError('--append and --overwrite exclude each other');
  }
  if (values.flag('append')) return 'append';
  return values.flag('overwrite') ? 'overwrite' : 'resume';
}

function readPrices(values: OptionValues, api: ApiName): Prices | undefined {
  const file = values.text('prices');
  const [input, output] = [values.amount('price-in'), values.amount('price-out')];
  const cached = values.amount('price-cached');
  if (file !== undefined) {
    if (input !== undefined || output !== undefined || cached !== undefined) {
      throw new BatchError('--prices excludes --price-in, --price-cached and --price-out');
    }
    return readPriceFile(file);
  }
  if (input === undefined && output === undefined && cached === undefined) return undefined;
  if (input === undefined) throw new BatchError('--price-in is missing beside the other prices');
  // Embeddings have no output. For other APIs --max-cost would let output pass as free.
  if (output === undefined && api !== 'embeddings') {
    throw new BatchError('--price-out is missing beside the other prices');
  }
  return { '*': { in: input, cached, out: output ?? 0 } };
}

import { API_NAMES } from './endpoint.ts';
import { BatchError } from './errors.ts';
import { INPUT_FORMATS } from './input/read-input.ts';
import { type BatchOptions, type BatchSettings, CHANGED_LINES } from './options.ts';

const OUTAGE_MS = 30 * 60_000;
const UNREACHABLE_MS = 10_000;
const DRAIN_MS = 10_000;
const EXISTING = ['resume', 'append', 'overwrite'];

/** @throws BatchError, RangeError or TypeError that names a wrong option; the limiter checks its own */
export function checkBatchOptions(options: BatchOptions): BatchSettings {
  const {
    input,
    output,
    send,
    format,
    template,
    limit,
    api = 'chat',
    model,
    groupSize = 1,
    existing = 'resume',
    changed = 'fail',
    retryFailed = false,
    prices,
    maxCost,
    cache,
    provider = '',
    limitsByModel,
    outageMs = OUTAGE_MS,
    unreachableMs = UNREACHABLE_MS,
    drainMs = DRAIN_MS,
    signal,
    abortSignal,
    ...limiter
  } = options;
  if (typeof send !== 'function') throw new TypeError('`send` must be a function');
  if (typeof output !== 'string') throw new TypeError('`output` must be the name of a file');
  choice('api', api, API_NAMES);
  choice('existing', existing, EXISTING);
  choice('changed', changed, CHANGED_LINES);
  if (format !== undefined) choice('format', format, INPUT_FORMATS);
  if (!Number.isInteger(groupSize) || groupSize < 1) {
    throw new RangeError(`\`groupSize\` must be an integer >= 1, got ${groupSize}`);
  }
  for (const [name, value] of Object.entries({ outageMs, unreachableMs, drainMs, maxCost })) {
    if (value !== undefined && !(value >= 0)) {
      throw new RangeError(`\`${name}\` must be a number >= 0, got ${value}`);
    }
  }
  if (maxCost !== undefined && prices === undefined) {
    throw new BatchError(
      'a bound of the cost needs prices: give --price-in and --price-out, or --prices FILE',
    );
  }
  const batch = {
    input,
    output,
    send,
    format,
    template,
    limit,
    api,
    model,
    groupSize,
    existing,
    changed,
    retryFailed,
    prices,
    maxCost,
    cache,
    provider,
    limitsByModel,
    outageMs,
    unreachableMs,
    drainMs,
    signal,
    abortSignal,
  };
  // Behind an open circuit requests wait: a file of prompts is in no hurry.
  const { circuitBreaker } = limiter;
  if (circuitBreaker === undefined) return { batch, limiter };
  const breaker = { onOpen: 'wait' as const, ...(circuitBreaker === true ? {} : circuitBreaker) };
  return { batch, limiter: { ...limiter, circuitBreaker: breaker } };
}

function choice(name: string, value: string, choices: readonly string[]): void {
  if (choices.includes(value)) return;
  throw new TypeError(
    `\`${name}\` must be one of ${choices.join(', ')}, got ${JSON.stringify(value)}`,
  );
}

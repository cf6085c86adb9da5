import type { LimiterOptions } from 'headgate';
import {
  checkBetween,
  checkBoolean,
  checkChoice,
  checkFunction,
  checkInteger,
  checkKeys,
  checkMethods,
  checkNumber,
  checkOrInfinity,
  wrongType,
} from '../util/check.ts';
import { API_NAMES } from './endpoint.ts';
import { BatchError } from './errors.ts';
import { MAX_TIMEOUT_MS } from './http/sender.ts';
import { INPUT_FORMATS } from './input/read-input.ts';
import { isObject } from './json.ts';
import {
  type BatchOnlyOptions,
  type BatchOptions,
  type BatchSettings,
  CHANGED_LINES,
} from './options.ts';
import { waitingAtCircuit } from './pacer.ts';

const OUTAGE_MS = 30 * 60_000;
const UNREACHABLE_MS = 10_000;
const DRAIN_MS = 10_000;
const EXISTING = ['resume', 'append', 'overwrite'] as const;

type Check = (name: string, value: unknown) => void;

/** The checks of the options that are not of the limiter, for values that are given. */
const CHECKS: Readonly<Record<keyof BatchOnlyOptions, Check>> = {
  input: checkInputNames,
  output: textOf('the name of a file'),
  send: checkFunction,
  format: (name, value) => checkChoice(name, value, INPUT_FORMATS),
  template: textOf('a string'),
  limit: (name, value) => checkInteger(name, value, 1),
  api: (name, value) => checkChoice(name, value, API_NAMES),
  model: textOf('a string'),
  groupSize: (name, value) => checkInteger(name, value, 1),
  existing: (name, value) => checkChoice(name, value, EXISTING),
  changed: (name, value) => checkChoice(name, value, CHANGED_LINES),
  retryFailed: checkBoolean,
  prices: checkPrices,
  maxCost: (name, value) => checkOrInfinity(name, value, 0),
  limitsByModel: checkModelLimits,
  provider: textOf('a string'),
  cache: (name, value) => checkMethods(name, value, ['get', 'put', 'close']),
  outageMs: (name, value) => checkOrInfinity(name, value, 0),
  unreachableMs: (name, value) => checkOrInfinity(name, value, 0),
  drainMs: (name, value) => checkBetween(name, value, 0, MAX_TIMEOUT_MS),
  signal: checkSignal,
  abortSignal: checkSignal,
};

/**
 * The options of the limiter, whose values `createLimiter` checks. `total` may come from the
 * environment; the run counts its lines itself.
 */
const LIMITER_OPTIONS: Readonly<Record<keyof Omit<LimiterOptions, 'classify'>, true>> = {
  concurrency: true,
  throttledConcurrency: true,
  maxBytes: true,
  throttledByteFactor: true,
  backoff: true,
  maxRetryAfterMs: true,
  onLongWait: true,
  outageMs: true,
  adaptive: true,
  circuitBreaker: true,
  requestsPerMinute: true,
  tokensPerMinute: true,
  limits: true,
  onLimit: true,
  refundRejected: true,
  costBudget: true,
  pace: true,
  maxQueue: true,
  overflow: true,
  waitTimeoutMs: true,
  agingMs: true,
  maxAttempts: true,
  failedAttempts: true,
  attemptTimeoutMs: true,
  deadlineMs: true,
  total: true,
  milestonePercent: true,
  feedback: true,
  clock: true,
  instrumentation: true,
  isFailure: true,
  random: true,
  name: true,
  telemetry: true,
  shared: true,
};
const LIMITER_KEYS = Object.keys(LIMITER_OPTIONS);
const KEYS = [...new Set([...Object.keys(CHECKS), ...LIMITER_KEYS])];

/**
 * Checks the names of all options, and the values of those that are not of the limiter.
 * @throws BatchError, RangeError or TypeError that names a wrong option
 */
export function checkBatchOptions(options: BatchOptions): BatchSettings {
  checkKeys('runBatch', options, KEYS);
  for (const name of ['input', 'output', 'send'] as const) CHECKS[name](name, options[name]);
  for (const [name, check] of Object.entries(CHECKS)) {
    const value = options[name as keyof BatchOnlyOptions];
    if (value !== undefined) check(name, value);
  }
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
  // Requests wait while a circuit is open: a batch need not be fast.
  return { batch, limiter: waitingAtCircuit(limiter) };
}

function textOf(bound: string): Check {
  return (name, value) => {
    if (typeof value !== 'string') wrongType(name, bound, value);
  };
}

function checkInputNames(name: string, value: unknown): void {
  const names: unknown = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(names)) wrongType(name, 'a string or an array of strings', value);
  for (const [index, path] of names.entries()) textOf('a string')(`${name}[${index}]`, path);
}

function checkPrices(name: string, prices: unknown): void {
  if (!isObject(prices)) wrongType(name, 'an object of prices by model', prices);
  for (const [model, price] of Object.entries(prices)) {
    const path = `${name}.${model}`;
    checkKeys(path, price, ['in', 'cached', 'out']);
    const { in: input, cached, out } = price as Record<string, unknown>;
    checkNumber(`${path}.in`, input, 0);
    if (cached !== undefined) checkNumber(`${path}.cached`, cached, 0);
    checkNumber(`${path}.out`, out, 0);
  }
}

/** Checks the names of the options; `createLimiter` checks their values. */
function checkModelLimits(name: string, limits: unknown): void {
  if (!isObject(limits)) wrongType(name, 'an object of limits by model', limits);
  for (const [model, own] of Object.entries(limits)) {
    checkKeys(`${name}.${model}`, own, [...LIMITER_KEYS, 'classify']);
  }
}

function checkSignal(name: string, value: unknown): void {
  if (!(value instanceof AbortSignal)) wrongType(name, 'an AbortSignal', value);
}

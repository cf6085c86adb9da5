import {
  checkChoice,
  checkInteger,
  checkKeys,
  checkNumber,
  checkOrInfinity,
  wrongType,
} from '../util/check.ts';
import { type Clock, checkClock } from '../util/clock.ts';
import { HEADER_STYLES, type HeaderStyle } from './answer-headers.ts';
import { checkLimits, type LimitOptions } from './limits/limit-options.ts';
import type { CapacityFunction, CapacityStep } from './limits/limit-state.ts';
import type { Latency } from './random.ts';

/** Units that work in parallel, like the batch slots of an inference server. */
export interface ConcurrencyOptions {
  /** Requests served at the same time; an integer >= 1. */
  units: number;
  /** Requests that wait for a unit, first in, first out; an integer >= 0. Default: no bound. */
  queue?: number;
  /** The status of the answer when the queue is full. Default 503. */
  status?: 429 | 503 | 529;
}

/** A full outage. Requests admitted before it finish. Times count from the provider's start. */
export interface StormOptions {
  fromMs: number;
  /** The first instant after the outage. */
  toMs: number;
  /** Default 503. */
  status?: 429 | 500 | 502 | 503 | 504 | 529;
  /** The wait that answers name. Default: none. */
  retryAfterMs?: number;
}

/** A random failure of admitted requests, after their latency. */
export interface FailureOptions {
  /**
   * `error`: an answer with `status`. `reset`: the connection breaks. `hang`: no answer until the
   * request is aborted; it holds its unit.
   */
  fault: 'error' | 'reset' | 'hang';
  /** The share of admitted requests that fail so, 0 to 1. The sum of all failures is at most 1. */
  probability: number;
  /** The status of an `error`: 400 to 599. Default 500. */
  status?: number;
}

/** The total that may be used. Requests are admitted while something is left. */
export interface QuotaOptions {
  requests?: number;
  /** Input and output tokens together. */
  tokens?: number;
}

/** Options of `createProvider`. */
export interface ProviderOptions {
  /** Default: real time. */
  clock?: Clock;
  /** The seed of everything that is random. Default 1. */
  seed?: number;
  /** Default: none. */
  limits?: readonly LimitOptions[];
  /** Whether a request that a limit rejects counts against limits on requests. Default false. */
  countRejected?: boolean;
  /** Default: any number of requests at the same time. */
  concurrency?: ConcurrencyOptions;
  /** From the start of the work to the answer, in milliseconds. Default 0. */
  latency?: Latency;
  /** From arrival to a rejection, in milliseconds. Default 0. */
  rejectLatencyMs?: Latency;
  /** Default: none. */
  storms?: readonly StormOptions[];
  /**
   * Changes of all limits over time. Steps change the limits themselves, and answers report the
   * changed limits. A function returns the share of the limits that other tenants leave; it is
   * asked once a second, and answers still report the full limits. A limit that is reduced to less
   * than 1 admits no request.
   */
  capacity?: readonly CapacityStep[] | CapacityFunction;
  /**
   * The wait that the answer names when a limit rejects a request. `exact` (default): the time
   * until the request would fit. `none`: no wait. `misleading`: a random time from 0 to twice the
   * exact time. A number: always this number of milliseconds, also where `concurrency` rejects.
   */
  retryAfter?: 'exact' | 'none' | 'misleading' | number;
  /** The headers of `submitOrThrow`. Default `openai`. */
  headers?: HeaderStyle;
  /** Default: none. */
  failures?: readonly FailureOptions[];
  /** When it is used up, every request gets 429 `insufficient_quota`. Default: no quota. */
  quota?: QuotaOptions;
  /** The accepted API keys; any other key gets 401. Default: every request is accepted. */
  apiKeys?: readonly string[];
}

const KEYS = [
  'clock',
  'seed',
  'limits',
  'countRejected',
  'concurrency',
  'latency',
  'rejectLatencyMs',
  'storms',
  'capacity',
  'retryAfter',
  'headers',
  'failures',
  'quota',
  'apiKeys',
] as const;

/** @throws RangeError or TypeError that names the option, its bound and the value */
export function checkProviderOptions(options: ProviderOptions): void {
  checkKeys('createProvider', options, KEYS);
  checkClock(options.clock);
  for (const name of LISTS) checkList(name, options[name]);
  if (options.seed !== undefined) checkInteger('seed', options.seed, 0);
  if (options.limits !== undefined) checkLimits(options.limits);
  if (options.concurrency !== undefined) checkConcurrency(options.concurrency);
  options.storms?.forEach(checkStorm);
  if (typeof options.capacity === 'object') options.capacity.forEach(checkStep);
  if (options.failures !== undefined) checkFailures(options.failures);
  if (typeof options.retryAfter === 'number') checkNumber('retryAfter', options.retryAfter, 0);
  else if (options.retryAfter !== undefined) {
    checkChoice('retryAfter', options.retryAfter, ['exact', 'none', 'misleading']);
  }
  if (options.headers !== undefined) checkChoice('headers', options.headers, HEADER_STYLES);
  if (options.quota !== undefined) {
    checkKeys('quota', options.quota, ['requests', 'tokens']);
    checkInteger('quota.requests', options.quota.requests ?? 0, 0);
    checkInteger('quota.tokens', options.quota.tokens ?? 0, 0);
  }
  if (options.apiKeys?.some((key) => typeof key !== 'string' || key === '')) {
    throw new TypeError('`apiKeys` must be strings that are not empty');
  }
}

const LISTS = ['storms', 'failures', 'apiKeys', 'capacity'] as const;

function checkList(name: (typeof LISTS)[number], value: unknown): void {
  if (value === undefined || Array.isArray(value)) return;
  if (name === 'capacity' && typeof value === 'function') return;
  const kind = name === 'capacity' ? 'an array or a function' : 'an array';
  wrongType(name, kind, value);
}

function checkConcurrency(options: ConcurrencyOptions): void {
  checkKeys('concurrency', options, ['units', 'queue', 'status']);
  checkInteger('concurrency.units', options.units, 1);
  if (options.queue !== undefined) {
    checkOrInfinity('concurrency.queue', options.queue, 0, 'integer');
  }
  checkStatus('concurrency.status', options.status, [429, 503, 529]);
}

function checkStorm(storm: StormOptions, index: number): void {
  const name = `storms[${index}]`;
  checkKeys(name, storm, ['fromMs', 'toMs', 'status', 'retryAfterMs']);
  checkNumber(`${name}.fromMs`, storm.fromMs, 0);
  checkNumber(`${name}.toMs`, storm.toMs, storm.fromMs);
  checkStatus(`${name}.status`, storm.status, [429, 500, 502, 503, 504, 529]);
  if (storm.retryAfterMs !== undefined) checkNumber(`${name}.retryAfterMs`, storm.retryAfterMs, 0);
}

function checkStep(step: CapacityStep, index: number): void {
  checkKeys(`capacity[${index}]`, step, ['atMs', 'factor']);
  checkNumber(`capacity[${index}].atMs`, step.atMs, 0);
  checkNumber(`capacity[${index}].factor`, step.factor, 0);
}

function checkFailures(failures: readonly FailureOptions[]): void {
  let sum = 0;
  failures.forEach((failure, index) => {
    const name = `failures[${index}]`;
    checkKeys(name, failure, ['fault', 'probability', 'status']);
    checkChoice(`${name}.fault`, failure.fault, ['error', 'reset', 'hang']);
    sum += checkNumber(`${name}.probability`, failure.probability, 0);
    const { status } = failure;
    if (status !== undefined && checkInteger(`${name}.status`, status, 400) > 599) {
      throw new RangeError(`\`${name}.status\` must be an integer <= 599, got ${status}`);
    }
  });
  if (sum > 1 + Number.EPSILON * failures.length) {
    throw new RangeError(`\`failures\` must have probabilities of at most 1 in all, got ${sum}`);
  }
}

function checkStatus(name: string, status: number | undefined, choices: readonly number[]): void {
  if (status !== undefined && !choices.includes(status)) {
    throw new RangeError(`\`${name}\` must be one of ${choices.join(', ')}, got ${status}`);
  }
}

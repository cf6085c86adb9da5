import type { ProgressOptions } from '../core/progress.ts';
import { checkInteger, checkKeys, show } from '../model/check.ts';
import { Sized } from '../model/sized.ts';
import type { Amounts } from '../model/ticket.ts';
import { GATE_KEYS, type GateOptions } from '../operators/gates.ts';
import { checkCosts, checkPriority, type RequestOptions } from '../operators/intake.ts';
import {
  checkRetryOptions,
  RETRY_KEYS,
  type ResultOptions,
  type RetryOptions,
} from '../operators/send-options.ts';

export interface LimiterOptions
  extends Omit<GateOptions, 'concurrency' | 'maxBytes'>,
    RetryOptions,
    Pick<ProgressOptions, 'total' | 'milestonePercent'> {
  /** Requests in flight at the most, an integer >= 1. Default 400 (seed: 000). */
  readonly concurrency?: number;
  /** Bytes in flight before requests wait, an integer >= 0. Default 5 MiB (seed: 000). */
  readonly maxBytes?: number;
}

export const LIMITER_KEYS = [...GATE_KEYS, ...RETRY_KEYS, 'total', 'milestonePercent'] as const;

/** What a promise user says of one request. */
export interface AcquireOptions {
  /** Its size in bytes. Default 0. */
  readonly bytes?: number;
  /** Its tokens. Default `bytes / 4`. */
  readonly tokens?: number;
  /** What it costs of named rate limits. Default: 1 of `requests`, its `tokens` and `bytes`. */
  readonly costs?: Amounts;
  /** An integer: a higher one goes first. Default 0. */
  readonly priority?: number;
  /** Gives up waiting, or abandons the call that runs. */
  readonly signal?: AbortSignal;
}

const ACQUIRE_KEYS = ['bytes', 'tokens', 'costs', 'priority', 'signal'] as const;

/** @throws RangeError or TypeError that names a wrong option */
export function checkAcquireOptions(options: AcquireOptions): void {
  checkKeys('AcquireOptions', options, ACQUIRE_KEYS);
  const { signal, costs, priority, bytes, tokens } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError(`\`signal\` must be an AbortSignal, got ${show(signal)}`);
  }
  if (costs !== undefined) checkCosts(costs);
  if (priority !== undefined) checkPriority(priority);
  if (bytes !== undefined || tokens !== undefined) new Sized(undefined, bytes ?? 0, tokens);
}

/** What a stream says of its requests and results; all limits are the limiter's. */
export interface LimiterThrottleOptions<T> extends ResultOptions, RequestOptions<T> {}

/** @throws RangeError or TypeError that names a wrong option; the rest is checked where it is read */
export function checkLimiterOptions(options: LimiterOptions): void {
  checkKeys('createLimiter', options, LIMITER_KEYS);
  checkRetryOptions(options);
  // A shared limit is a number: whose stream would it follow?
  const { concurrency, maxBytes } = options;
  if (concurrency !== undefined) checkInteger('concurrency', concurrency, 1);
  if (maxBytes !== undefined) checkInteger('maxBytes', maxBytes, 0);
}

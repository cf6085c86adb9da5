import type { BackoffSnapshot } from '../core/backoff.ts';
import type { ByteBudgetSnapshot } from '../core/byte-budget.ts';
import type { SlotsSnapshot } from '../core/slots.ts';
import type { GateSnapshot } from '../gate/gate.ts';
import { checkInteger, checkKeys, show } from '../model/check.ts';
import { GATE_KEYS, type GateOptions } from '../operators/gates.ts';
import { RETRY_KEYS, type ResultOptions, type RetryOptions } from '../operators/send-options.ts';
import type { Estimator } from '../operators/size.ts';

export interface LimiterOptions
  extends Omit<GateOptions, 'concurrency' | 'maxBytes'>,
    RetryOptions {
  /** Requests in flight at the most, an integer >= 1. Default 400 (seed: 000). */
  readonly concurrency?: number;
  /** Bytes in flight before requests wait, an integer >= 0. Default 5 MiB (seed: 000). */
  readonly maxBytes?: number;
}

export const LIMITER_KEYS = [...GATE_KEYS, ...RETRY_KEYS] as const;

/** What a promise user says of one request. */
export interface AcquireOptions {
  /** Its size in bytes. Default 0. */
  readonly bytes?: number;
  /** Its tokens. Default `bytes / 4`. */
  readonly tokens?: number;
  /** Gives up waiting, or abandons the call that runs. */
  readonly signal?: AbortSignal;
}

const ACQUIRE_KEYS = ['bytes', 'tokens', 'signal'] as const;

/** @throws TypeError that names a wrong option; sizes are checked where they are read */
export function checkAcquireOptions(options: AcquireOptions): void {
  checkKeys('AcquireOptions', options, ACQUIRE_KEYS);
  const { signal } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError(`\`signal\` must be an AbortSignal, got ${show(signal)}`);
  }
}

/** What a stream says of its requests and results; all limits are the limiter's. */
export interface LimiterThrottleOptions<T> extends ResultOptions {
  /** How large a request is. Default: as `byteEstimate` does it. */
  readonly estimate?: Estimator<T>;
}

/** The state of a limiter at one moment. */
export interface LimiterSnapshot {
  readonly concurrency: GateSnapshot & SlotsSnapshot;
  readonly byteBudget: GateSnapshot & ByteBudgetSnapshot;
  readonly backoff: GateSnapshot & BackoffSnapshot;
}

/** A shared limit is a number: whose stream would it follow? */
export function checkLimiterNumbers({ concurrency, maxBytes }: LimiterOptions): void {
  if (concurrency !== undefined) checkInteger('concurrency', concurrency, 1);
  if (maxBytes !== undefined) checkInteger('maxBytes', maxBytes, 0);
}

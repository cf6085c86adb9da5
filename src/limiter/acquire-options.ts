import type { Amounts } from '../model/ticket.ts';
import { checkCosts, checkPriority, checkWeight } from '../request/request-options.ts';
import { checkAmount, checkKeys, checkOrInfinity, wrongType } from '../util/check.ts';

/** Options of one call. */
export interface AcquireOptions {
  /** Its size in bytes. Default 0. */
  readonly bytes?: number;
  /** Its tokens. Default `bytes / 4`. */
  readonly tokens?: number;
  /**
   * Its costs by rate limit; fractions are rounded up. Default: 1 of `requests`, its `tokens` and
   * `bytes`.
   */
  readonly costs?: Amounts;
  /** An integer; the highest goes first. Default 0. */
  readonly priority?: number;
  /** How many slots of `concurrency` it takes, an integer >= 1. Default 1. */
  readonly weight?: number;
  /**
   * A value by which `setPriority` finds it until it ends: a string, or the object that it is for.
   * Several requests may have the same. Default: none.
   */
  readonly id?: unknown;
  /**
   * The time in ms, >= 1, after which the call is aborted and rejects with a `RequestTimeoutError`.
   * It includes the wait; for `acquire` it bounds the wait alone. Default, and Infinity: no bound.
   */
  readonly timeoutMs?: number;
  /** Its abort ends the wait, or abandons the running call. Default: no signal. */
  readonly signal?: AbortSignal;
}

/** Options of a call of a paced `fetch`, which has a signal of its own. */
export type FetchOptions = Omit<AcquireOptions, 'signal'>;

/** The options of a call that does not wait. */
const NOW_KEYS = ['bytes', 'tokens', 'costs', 'priority', 'weight', 'id'] as const;
const FETCH_KEYS = [...NOW_KEYS, 'timeoutMs'] as const;
const ACQUIRE_KEYS = [...FETCH_KEYS, 'signal'] as const;

/** @throws TypeError */
export function checkSignal(signal: unknown): void {
  if (signal === undefined || signal instanceof AbortSignal) return;
  wrongType('signal', 'an AbortSignal', signal);
}

/** @throws RangeError or TypeError that names a wrong option */
export function checkAcquireOptions(options: AcquireOptions): void {
  if (!isPlain(options)) checkKeys('a call', options, ACQUIRE_KEYS);
  const { signal, costs, priority, weight, timeoutMs, bytes, tokens } = options;
  if (timeoutMs !== undefined) checkOrInfinity('timeoutMs', timeoutMs, 1);
  checkSignal(signal);
  if (costs !== undefined) checkCosts(costs);
  if (priority !== undefined) checkPriority(priority);
  if (weight !== undefined) checkWeight(weight);
  if (bytes !== undefined) checkAmount('bytes', bytes);
  if (tokens !== undefined) checkAmount('tokens', tokens);
}

/** Checks the other options of a call that does not wait. @throws TypeError for those of a wait */
export function checkNoWait(options: AcquireOptions): void {
  if (options.signal === undefined && options.timeoutMs === undefined) return;
  checkKeys('limiter.tryAcquire', options, NOW_KEYS);
}

/** @throws RangeError or TypeError that names a wrong option */
export function checkFetchOptions(options: FetchOptions): void {
  checkKeys('limiter.fetchWith', options, FETCH_KEYS);
  checkAcquireOptions(options);
}

/**
 * Whether a plain object has as many keys as it has known options, and so no unknown ones. This
 * runs for each request, and is faster than comparing names.
 */
function isPlain(options: AcquireOptions): boolean {
  if (typeof options !== 'object' || options === null) return false;
  if (Object.getPrototypeOf(options) !== Object.prototype) return false;
  const { signal, costs, priority, weight, id, timeoutMs, bytes, tokens } = options;
  let unknown = 0;
  for (const _key in options) unknown += 1;
  if (signal !== undefined) unknown -= 1;
  if (costs !== undefined) unknown -= 1;
  if (priority !== undefined) unknown -= 1;
  if (weight !== undefined) unknown -= 1;
  if (id !== undefined) unknown -= 1;
  if (timeoutMs !== undefined) unknown -= 1;
  if (bytes !== undefined) unknown -= 1;
  if (tokens !== undefined) unknown -= 1;
  return unknown === 0;
}

import type { FleetSnapshot } from '../fleet/fleet-hooks.ts';
import type { SharedStore } from '../fleet/shared-store.ts';
import type { LimiterEvent } from '../model/limiter-event.ts';
import type { Amounts } from '../model/ticket.ts';
import { checkLimiterConfig } from '../options/check-config.ts';
import type { LimiterConfig } from '../options/limiter-config.ts';
import {
  type AttemptOptions,
  type CommonOptions,
  checkSharedOption,
  OBSERVED_KEYS,
  type ObservedOptions,
  type SharedOption,
} from '../request/gate-options.ts';
import {
  checkCosts,
  checkPriority,
  checkWeight,
  type NamedRequestOptions,
} from '../request/request-options.ts';
import {
  checkRetryOptions,
  type ResultOptions,
  type RetryOptions,
} from '../request/send-options.ts';
import { checkAmount, checkFunction, checkKeys, checkNumber, show } from '../util/check.ts';
import type { SharedOptions, SharedSnapshot } from './shared-limits.ts';
import type { LimiterSnapshot } from './snapshot.ts';

/** The options of a limiter: plain data, and the others. */
export interface LimiterOptions
  extends LimiterConfig,
    CommonOptions,
    Pick<AttemptOptions, 'isFailure'>,
    Pick<RetryOptions, 'classify' | 'random'>,
    SharedOption {}

const KEY_KEYS = [
  'feedback',
  'clock',
  'instrumentation',
  'isFailure',
  'classify',
  'random',
] as const;
const EXTRA_KEYS = [...KEY_KEYS, 'name', 'telemetry', 'shared'] as const;

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
  /** Ends the wait, or abandons the running call. */
  readonly signal?: AbortSignal;
}

const ACQUIRE_KEYS = [
  'bytes',
  'tokens',
  'costs',
  'priority',
  'weight',
  'id',
  'timeoutMs',
  'signal',
] as const;

/** @throws RangeError or TypeError that names a wrong option */
export function checkAcquireOptions(options: AcquireOptions): void {
  if (!isPlain(options)) checkKeys('a call', options, ACQUIRE_KEYS);
  const { signal, costs, priority, weight, timeoutMs, bytes, tokens } = options;
  if (timeoutMs !== undefined && timeoutMs !== Number.POSITIVE_INFINITY) {
    checkNumber('timeoutMs', timeoutMs, 1);
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError(`\`signal\` must be an AbortSignal, got ${show(signal)}`);
  }
  if (costs !== undefined) checkCosts(costs);
  if (priority !== undefined) checkPriority(priority);
  if (weight !== undefined) checkWeight(weight);
  if (bytes !== undefined) checkAmount('bytes', bytes);
  if (tokens !== undefined) checkAmount('tokens', tokens);
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

/** Options of a stream's requests and results. All limits are the limiter's. */
export interface LimiterThrottleOptions<T> extends ResultOptions, NamedRequestOptions<T> {}

/** @throws RangeError or TypeError that names a wrong option */
export function checkLimiterOptions(options: LimiterOptions): void {
  checkLimiterConfig('createLimiter', options, EXTRA_KEYS);
  checkRetryOptions(options);
  checkSharedOption(options);
}

/**
 * The same for the options of one key of a group, whose name is that of the group.
 * @throws RangeError or TypeError that names a wrong option
 */
export function checkKeyOptions(options: LimiterOptions): void {
  checkLimiterConfig('each', options, KEY_KEYS, 'each.');
  for (const name of ['isFailure', 'classify', 'random'] as const) {
    if (options[name] !== undefined) checkFunction(`each.${name}`, options[name]);
  }
}

/** The limits of one key. Telemetry never contains keys: the name is that of the group. */
export type KeyOptions = Omit<LimiterOptions, 'name' | 'telemetry' | 'shared'>;

/** `name` is that of all keys together. */
export interface LimiterGroupOptions
  extends Pick<LimiterOptions, 'clock' | 'random' | 'classify'>,
    ObservedOptions {
  /**
   * The limits of each key: the same for all, or a function of the key. Default: those of
   * `createLimiter()`.
   */
  readonly each?: KeyOptions | ((key: string) => KeyOptions);
  /** Limits that all keys share. Default: none. */
  readonly shared?: SharedOptions;
  /**
   * A store that several processes share, such as `redisStore` of `headgate/redis`. The limits of
   * each key and of `shared` then apply to all processes together. Default: they apply to this
   * process alone.
   */
  readonly store?: SharedStore;
  /**
   * The time in ms, >= 1, after which an idle key is dropped, if it has nothing to remember: no
   * rate limit in use, no backoff, no failure. Default 60,000.
   */
  readonly idleMs?: number;
  /**
   * The greatest number of keys, an integer >= 1. A further key replaces the key that has been idle
   * longest and has no state to keep. If there is no such key, the request fails with a
   * `TooManyKeysError`. Default 10,000.
   */
  readonly maxKeys?: number;
}

export const GROUP_KEYS = [
  'each',
  'shared',
  'store',
  'idleMs',
  'maxKeys',
  'clock',
  'random',
  'classify',
  ...OBSERVED_KEYS,
] as const;

/** An event of the limiter of one key, or of the shared limits (`key` undefined). */
export type GroupEvent = LimiterEvent & { readonly key: string | undefined };

/** The state of a group at one moment. */
export interface GroupSnapshot {
  readonly shared: SharedSnapshot | undefined;
  /** The state of this process among those that share these limits; undefined if it shares none. */
  readonly fleet: FleetSnapshot | undefined;
  /** By key. */
  readonly keys: Readonly<Record<string, LimiterSnapshot>>;
}

import type { SharedStore } from '../fleet/shared-store.ts';
import { checkLimiterConfig } from '../options/check-config.ts';
import { OBSERVED_KEYS, type ObservedOptions } from '../request/gate-options.ts';
import { checkFunction } from '../util/check.ts';
import type { Clock } from '../util/clock.ts';
import { checkForeign, KEY_KEYS, type LimiterOptions } from './limiter-options.ts';
import type { SharedOptions } from './shared-limits.ts';

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

/**
 * @param name of the options, for errors: `each`, or `each("large")`
 * @throws RangeError or TypeError that names a wrong option
 */
export function checkKeyOptions(name: string, options: KeyOptions, clock: Clock): void {
  checkForeign(name, 'group', options);
  checkLimiterConfig(name, options, KEY_KEYS, `${name}.`);
  for (const key of ['isFailure', 'classify', 'random'] as const) {
    if (options[key] !== undefined) checkFunction(`${name}.${key}`, options[key]);
  }
  if (options.clock !== undefined && options.clock !== clock) {
    throw new TypeError(`\`${name}.clock\` must be the clock of the group; leave it out`);
  }
}

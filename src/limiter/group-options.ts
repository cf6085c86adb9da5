import type { FleetSnapshot } from '../fleet/fleet-hooks.ts';
import type { SharedStore } from '../fleet/shared-store.ts';
import type { LimiterEvent } from '../model/limiter-event.ts';
import { OBSERVED_KEYS, type ObservedOptions } from '../request/gate-options.ts';
import type { LimiterOptions } from './limiter-options.ts';
import type { SharedOptions, SharedSnapshot } from './shared-limits.ts';
import type { LimiterSnapshot } from './snapshot.ts';

/** The limits of one key. A key is never told to telemetry: the name is that of the group. */
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
   * Where the groups of several processes meet, such as `redisStore` of `headgate/redis`: the limits of
   * each key, and those of `shared`, are then those of all processes together. Default: they are those
   * of this process alone.
   */
  readonly store?: SharedStore;
  /**
   * The time in ms, >= 1, after which an idle key is dropped, if it has nothing to remember: no rate
   * limit in use, no backoff, no failure. Default 60,000.
   */
  readonly idleMs?: number;
  /**
   * Keys at the most, an integer >= 1. One more takes the place of the key that has been idle for longest
   * and has nothing to remember; where there is none, its request fails with a `TooManyKeysError`.
   * Default 10,000.
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
  /** How this process stands among those that share these limits; undefined: it shares none. */
  readonly fleet: FleetSnapshot | undefined;
  /** By key. */
  readonly keys: Readonly<Record<string, LimiterSnapshot>>;
}

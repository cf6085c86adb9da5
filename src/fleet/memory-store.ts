import { systemClock } from '../queue/system-clock.ts';
import { checkKeys } from '../util/check.ts';
import { type Clock, checkClock } from '../util/clock.ts';
import { joinFleet } from './fleet.ts';
import { FleetModel } from './model/fleet-model.ts';
import type { StoreSettings } from './protocol.ts';
import type { SharedStore } from './shared-store.ts';
import { checkStoreSettings, STORE_KEYS } from './store-settings.ts';

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions extends StoreSettings {
  /** Default: real time. */
  readonly clock?: Clock;
}

/**
 * A shared store within a process: several limiters of one key act as one. It does what
 * `redisStore` does for several processes, and is what tests compare that with.
 *
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * const shared = memoryStore();
 * const chat = createLimiter({ requestsPerMinute: 600, shared });
 * const batch = createLimiter({ requestsPerMinute: 600, shared });
 */
export function memoryStore(options: MemoryStoreOptions = {}): SharedStore {
  checkKeys('memoryStore', options, [...STORE_KEYS, 'clock']);
  const { clock = systemClock, ...settings } = options;
  checkClock(clock);
  checkStoreSettings(settings);
  const model = new FleetModel();
  return {
    ...settings,
    join: joinFleet,
    exchange: (request) => model.exchange(request, Math.floor(clock.now() * 1_000)),
    workers: () => model.workers(),
  };
}

import { checkKeys } from '../util/check.ts';
import { type Clock, checkClock, systemClock } from '../util/clock.ts';
import { joinFleet } from './fleet.ts';
import { FleetModel } from './model/fleet-model.ts';
import {
  checkStoreSettings,
  type SharedStore,
  STORE_KEYS,
  type StoreSettings,
} from './shared-store.ts';

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions extends StoreSettings {
  /** Default: real time. */
  readonly clock?: Clock;
}

/** Expired keys are searched for at this number of keys, and whenever the number has doubled. */
const LEAST_SWEPT = 64;

/** The models of all keys, by name. A model is kept until it has expired. */
class Models {
  private readonly models = new Map<string, FleetModel>();
  private sweepAt = LEAST_SWEPT;

  /** The model of a key; undefined: no worker has called the key yet. */
  known(name: string): FleetModel | undefined {
    return this.models.get(name);
  }

  /** The model of a key, made if the key is new. */
  of(name: string, time: number): FleetModel {
    const known = this.models.get(name);
    if (known !== undefined) return known;
    if (this.models.size >= this.sweepAt) this.sweep(time);
    const model = new FleetModel();
    this.models.set(name, model);
    return model;
  }

  private sweep(time: number): void {
    for (const [name, { expiresAt }] of this.models) {
      if (expiresAt <= time) this.models.delete(name);
    }
    this.sweepAt = Math.max(LEAST_SWEPT, 2 * this.models.size);
  }
}

/**
 * A shared store within a process: several limiters of one key act as one. It behaves as
 * `redisStore` does for several processes. The tests compare both.
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
  const models = new Models();
  const micros = () => Math.floor(clock.now() * 1_000);
  const storeOf = (name: string): SharedStore => ({
    ...settings,
    join: joinFleet,
    exchange: (request) => {
      const time = micros();
      return models.of(name, time).exchange(request, time);
    },
    workers: () => models.known(name)?.workers() ?? [],
    of: (inner) => storeOf(`${name}/${inner}`),
  });
  return storeOf('');
}

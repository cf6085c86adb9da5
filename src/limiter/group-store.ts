import type { RemoteLimits } from '../fleet/fleet-gate.ts';
import type { SharedStore } from '../fleet/shared-store.ts';
import type { Instrumentation } from '../model/instrumentation.ts';
import type { Emit } from '../model/policy-events.ts';
import type { PolicyConfig } from '../policies/registry.ts';
import { checkMethods, show } from '../util/check.ts';

type StoredLimits = Pick<PolicyConfig, 'limits' | 'onLimit'>;

/** Where the groups of several processes meet: each key, and what all keys share, has its own store. */
export class GroupStore {
  private readonly common: SharedStore;
  private readonly of: (name: string) => SharedStore;

  /** @throws RangeError or TypeError for what is no store of many keys */
  constructor(store: SharedStore) {
    checkStoreOfMany(store);
    this.common = store;
    this.of = (key) => store.of(key);
  }

  /** Shares the limits of all keys. */
  join(emit: Emit, instrumentation: Instrumentation | undefined): RemoteLimits {
    return this.common.join(this.common, emit, instrumentation, this);
  }

  /**
   * The store of one key.
   * @throws TypeError for limits that only this process could keep
   */
  ofKey(key: string, limits: StoredLimits): SharedStore {
    checkStored('each', limits);
    return this.of(key);
  }
}

function checkStoreOfMany(
  store: SharedStore,
): asserts store is SharedStore & Required<Pick<SharedStore, 'of'>> {
  checkMethods('store', store, ['exchange', 'join', 'of']);
}

/**
 * @param option the option that has the limits
 * @throws TypeError for limits that only one process can keep
 */
export function checkStored(
  option: 'each' | 'shared',
  { limits = {}, onLimit }: StoredLimits,
): void {
  if (onLimit === 'fail') {
    throw new TypeError(
      `\`${option}.onLimit\` must be 'wait' with \`store\`: only the store knows what is left; got ${show(onLimit)}`,
    );
  }
  for (const [name, { windowMs }] of Object.entries(limits)) {
    if (windowMs !== Number.POSITIVE_INFINITY) continue;
    throw new TypeError(
      `\`${option}.limits.${name}.windowMs\` must be finite with \`store\`: the store keeps no quotas; got ${show(windowMs)}`,
    );
  }
}

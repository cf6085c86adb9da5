import type { SharedStore } from '../fleet/protocol.ts';
import { checkStoreOfMany } from '../fleet/store-settings.ts';
import { StoreWarnings } from '../fleet/store-warnings.ts';
import type { PolicyConfig } from '../policies/registry.ts';
import { show } from '../util/check.ts';

type StoredLimits = Pick<PolicyConfig, 'limits' | 'onLimit'>;

/** Where the groups of several processes meet: each key, and what all keys share, has its own store. */
export class GroupStore {
  /** Of the limits that all keys share. */
  readonly common: SharedStore;
  /** One warning for all keys. */
  readonly warnings: StoreWarnings;
  private readonly of: (name: string) => SharedStore;

  /** @throws RangeError or TypeError for what is no store of many keys */
  constructor(store: unknown, name: string | undefined) {
    checkStoreOfMany(store);
    this.common = store;
    this.of = (key) => store.of(key);
    this.warnings = new StoreWarnings(name);
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

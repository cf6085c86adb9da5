import type { FleetFeedback, FleetGate, RemoteLimits, SharedStore } from '../fleet/shared-store.ts';
import type { Instrumentation } from '../model/instrumentation.ts';
import type { Emit } from '../model/policy-events.ts';
import type { Policies } from '../policies/policies.ts';
import type { PolicyConfig } from '../policies/registry.ts';
import { checkMethods, show } from '../util/check.ts';
import type { Clock } from '../util/clock.ts';

type StoredLimits = Pick<PolicyConfig, 'limits' | 'onLimit'>;

/**
 * Shares the limits of a group with other processes. Each key has its own store, and the limits
 * that all keys share have one more.
 */
export class GroupStore {
  private readonly common: SharedStore;
  private readonly of: (name: string) => SharedStore;

  /** @throws RangeError or TypeError for a value that is no store of many keys */
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

/** Stands for slots or bytes without a bound. */
const UNBOUND = 1_000_000_000_000;

/** What the limits that all keys of a group share need beside their options. */
export interface SharedLimitsContext {
  /**
   * The store through which processes share these limits; undefined: no other process shares them.
   */
  readonly store: GroupStore | undefined;
  readonly name: string | undefined;
  readonly clock: Clock;
  readonly instrumentation: Instrumentation | undefined;
}

/**
 * Represents the limits that all keys of a group share as one gate of a fleet. It reports nothing
 * about the provider: each key has its own answers, backoff and circuit.
 */
export function commonGateOf(
  { name, clock }: SharedLimitsContext,
  policies: Partial<Policies>,
  gate: FleetGate['gate'],
): FleetGate {
  return {
    name,
    gate,
    // Read again when limits have changed.
    slots: {
      get maxLimit() {
        return policies.concurrency?.limit ?? UNBOUND;
      },
    },
    bytes: {
      get maxBytes() {
        return policies.byteBudget?.maxBytes ?? UNBOUND;
      },
    },
    policies: { rateLimit: policies.rateLimit, circuitBreaker: undefined },
    feedback: silent(clock),
  };
}

function silent(clock: Clock): FleetFeedback {
  const never = Number.NEGATIVE_INFINITY;
  return {
    clock,
    gate: { policy: { until: never, throttledUntil: never } },
    provider: {
      users: { watch: () => () => {} },
      heard: () => {},
      setOutage: () => {},
    },
  };
}

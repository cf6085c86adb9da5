import type { Instrumentation } from '../model/instrumentation.ts';
import type { Emit } from '../model/policy-events.ts';
import type { RemoteLimits } from './fleet-gate.ts';
import type { ExchangeReply, ExchangeRequest, WorkerShare } from './protocol.ts';
import type { StoreSettings } from './store-settings.ts';

/**
 * Where the workers of one key meet: `redisStore` in `headgate/redis`, or `memoryStore` within a
 * process. `exchange` must be atomic. It throws or rejects if the store cannot be reached;
 * the same request is then made again.
 */
export interface SharedStore extends StoreSettings {
  /**
   * The code of what shares: `joinFleet` of `headgate/advanced`. The store brings it, so that a
   * program without a store does not carry it.
   */
  readonly join: JoinFleet;
  exchange(request: ExchangeRequest): ExchangeReply | Promise<ExchangeReply>;
  /**
   * The workers of the key, at most 32: those that hold most. The inspector asks every two seconds,
   * while a page of it is open. Without this method it shows its own process alone.
   */
  workers?(): readonly WorkerShare[] | Promise<readonly WorkerShare[]>;
  /**
   * The store of one of many keys that have limits of their own, such as the tenants of a limiter
   * group. `redisStore` keeps the SHA-256 of the name alone. Groups need this method.
   */
  of?(name: string): SharedStore;
}

/**
 * Lets a gate share its limits through a store. Workers that were given the same `peers` warn of their
 * store together: once, as one warning for each of the many keys of a group would tell no more.
 */
export type JoinFleet = (
  store: SharedStore,
  emit: Emit,
  instrumentation: Instrumentation | undefined,
  peers?: object,
) => RemoteLimits;

/** What a worker calls of its store. */
export type StoreCalls = Omit<SharedStore, 'join'>;

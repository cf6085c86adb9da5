import type { Instrumentation } from '../model/instrumentation.ts';
import type { Emit } from '../model/policy-events.ts';
import type { RemoteLimits } from './fleet-gate.ts';
import type { ExchangeReply, ExchangeRequest, StoreSettings, WorkerShare } from './protocol.ts';

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
}

/** Lets a gate share its limits through a store. */
export type JoinFleet = (
  store: SharedStore,
  emit: Emit,
  instrumentation: Instrumentation | undefined,
) => RemoteLimits;

/** What a worker calls of its store. */
export type StoreCalls = Omit<SharedStore, 'join'>;

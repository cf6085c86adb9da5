import { HeadgateError } from '../model/errors.ts';
import type { GaugeValue } from '../model/gauge.ts';
import type { BackoffChange, Instrumentation } from '../model/instrumentation.ts';
import type { Emit } from '../model/policy-events.ts';
import type { Policies } from '../policies/policies.ts';
import type { Policy } from '../policies/policy.ts';
import type { LimitChanges } from '../policies/rate-limit/limit-changes.ts';
import type { RateLimitPolicy } from '../policies/rate-limit-policy.ts';
import { checkChoice, checkInteger, wrongType } from '../util/check.ts';
import type { Clock } from '../util/clock.ts';
import type { FleetSnapshot } from './fleet-hooks.ts';
import type { ExchangeReply, ExchangeRequest, WorkerShare } from './protocol.ts';

/** Another worker of the key runs a newer version of headgate, whose protocol is unknown here. */
export class StoreProtocolError extends HeadgateError {
  readonly code = 'STORE_PROTOCOL';

  override get name(): string {
    return 'StoreProtocolError';
  }

  constructor(own: number, theirs: number) {
    super(
      `workers of this key speak version ${theirs} of the protocol, this one version ${own}: update headgate here, or give this worker another \`key\``,
    );
  }
}

/** What a worker does while the store cannot be reached. */
export type OnStoreLoss = 'pause' | 'share';

/** Options of a store. */
export interface StoreSettings {
  /**
   * A worker that makes no call for this time loses its slots and bytes; in ms, an integer >= 100.
   * Default 5000.
   */
  readonly ttlMs?: number;
  /**
   * The state of a key is dropped when no worker has called for this time, in ms, an integer
   * >= `ttlMs`. Default 86,400,000 (a day). If the provider named a wait, or a large request was
   * sent ahead of its limit, the time begins when that wait or debt is over.
   */
  readonly keepMs?: number;
  /**
   * While the store cannot be reached: nothing more is sent (`'pause'`, default), or each worker
   * goes on with an equal share of the limits (`'share'`), by the number of workers in the last
   * reply; without any reply yet, with the whole limits. Until `ttlMs` after the loss, it uses no
   * more slots and bytes than it held then. Requests that last longer can come on top of the
   * shares.
   */
  readonly onStoreLoss?: OnStoreLoss;
  /**
   * The name of this worker in lists of workers: up to 64 letters, digits and `.:@_-`. Default:
   * for `redisStore` its host and process, such as `build-7:4711`; for `memoryStore` none.
   */
  readonly worker?: string;
}

export const STORE_KEYS = [
  'ttlMs',
  'keepMs',
  'onStoreLoss',
  'worker',
] as const satisfies readonly (keyof StoreSettings)[];

export const DEFAULT_TTL_MS = 5_000;
/** Covers a daily limit, and is longer than a learned rate is of use. */
const DEFAULT_KEEP_MS = 86_400_000;
const LEAST_TTL_MS = 100;
const WORKER = /^[\w.:@-]{1,64}$/;

/** The times of a store, with their defaults. */
export function timesOf({ ttlMs = DEFAULT_TTL_MS, keepMs }: StoreSettings) {
  return { ttlMs, keepMs: keepMs ?? Math.max(ttlMs, DEFAULT_KEEP_MS) };
}

/** @throws RangeError or TypeError that names a wrong option */
export function checkStoreSettings(settings: StoreSettings): void {
  const { ttlMs = DEFAULT_TTL_MS, keepMs, onStoreLoss, worker } = settings;
  checkInteger('ttlMs', ttlMs, LEAST_TTL_MS);
  if (keepMs !== undefined) checkInteger('keepMs', keepMs, ttlMs);
  if (onStoreLoss !== undefined) checkChoice('onStoreLoss', onStoreLoss, ['pause', 'share']);
  if (worker !== undefined && (typeof worker !== 'string' || !WORKER.test(worker))) {
    wrongType('worker', 'a string of 1 to 64 letters, digits and .:@_-', worker);
  }
}

/** The parts of a limiter's or a stream's gate that its fleet needs. */
export interface FleetGate {
  readonly name: string | undefined;
  /** The key of a limiter within a group. */
  readonly key?: string | undefined;
  readonly gate: {
    readonly waiting: number;
    readonly isPaused?: boolean;
    readonly policy?: Pick<Policy, 'isShared' | 'isNext'>;
    drain(): void;
  };
  readonly slots: { readonly maxLimit: number };
  readonly bytes: { readonly maxBytes: number };
  readonly policies: Pick<Policies, 'rateLimit' | 'circuitBreaker'>;
  readonly feedback: FleetFeedback;
}

/** The parts of the gate's feedback that its fleet needs. */
export interface FleetFeedback {
  readonly clock: Clock;
  readonly gate: { readonly policy: { readonly until: number; readonly throttledUntil: number } };
  readonly provider: {
    readonly users: {
      /** @returns a function that ends the watch */
      watch(listener: {
        backoff(waitMs: number, source: string, change: BackoffChange): void;
        modeBegan(): void;
      }): () => void;
    };
    /** Another worker was asked to slow down. */
    heard(closedMs: number, throttledMs: number): void;
    /** A sender reports whether the provider rejects every request. */
    setOutage(sender: object, isOut: boolean): void;
  };
}

/** Limits that are kept in a store, for several workers. */
export interface RemoteLimits {
  /** Called before any request waits. */
  begin(gate: FleetGate): void;
  /** Sets the adaptive policy of this process, before any request is sent and at each change. */
  adapts(adaptive: Policies['adaptive']): void;
  /** A policy for the shared limits and for the rate limits of this worker. */
  policyOf(own: RateLimitPolicy | undefined): Policy;
  /** @throws RangeError or TypeError for a limit that the store cannot keep */
  check(changes: LimitChanges): void;
  /**
   * The limits of this worker may have changed. The newest limits apply to all workers.
   * @param namesLimits whether the change names shared limits: then they apply even if they equal
   *   the last configuration of this worker. Default true
   */
  configured(namesLimits?: boolean): void;
  /** Charges the limit of tokens, if there is one, for requests that were sent without the limiter. */
  used(tokens: number): void;
  snapshot(): FleetSnapshot | undefined;
  /** The snapshot as gauges, by the keys of their metrics. */
  gauges(): Readonly<Record<string, GaugeValue>>;
  /** What this worker does while the store is away. */
  readonly onStoreLoss: OnStoreLoss;
  /** The workers of the key; undefined: the store cannot list them. Rejects if it is away. */
  workers(): Promise<readonly WorkerShare[] | undefined>;
  close(): void;
}

/**
 * The store of the workers of one key: `redisStore` in `headgate/redis`, or `memoryStore` within a
 * process. `exchange` must be atomic. It throws or rejects if the store cannot be reached;
 * the same request is then made again.
 */
export interface SharedStore extends StoreSettings {
  /**
   * The code that shares limits: `joinFleet` of `headgate/advanced`. The store supplies it, so that
   * a program without a store does not load it.
   */
  readonly join: JoinFleet;
  exchange(request: ExchangeRequest): ExchangeReply | Promise<ExchangeReply>;
  /**
   * The workers of the key, at most 32: those that hold the most slots. The inspector asks every
   * two seconds while a page of it is open. Without this method it shows only its own process.
   */
  workers?(): readonly WorkerShare[] | Promise<readonly WorkerShare[]>;
  /**
   * The store of one of many keys that have limits of their own, such as the tenants of a limiter
   * group. `redisStore` keeps only the SHA-256 of the name. Groups need this method.
   */
  of?(name: string): SharedStore;
}

/**
 * Lets a gate share its limits through a store. Workers with the same `peers`, such as those of all
 * keys of a group, warn of their store only once.
 */
export type JoinFleet = (
  store: SharedStore,
  emit: Emit,
  instrumentation: Instrumentation | undefined,
  peers?: object,
) => RemoteLimits;

/** The methods and settings of a store that a worker uses. */
export type StoreCalls = Omit<SharedStore, 'join'>;

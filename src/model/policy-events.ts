/** Events that policies emit beside their decisions: changes that are worth a line in a log. */

/** A transition of the circuit breaker, with the time at which it was due. */
export type CircuitEvent =
  | {
      readonly kind: 'circuitOpened';
      readonly at: number;
      /** The time until a probe may be sent. */
      readonly openMs: number;
      /** Consecutive failures so far. */
      readonly failures: number;
      readonly reason?: string | undefined;
    }
  | { readonly kind: 'circuitHalfOpen'; readonly at: number }
  | { readonly kind: 'circuitClosed'; readonly at: number }
  | {
      /** `circuit.isolate`: nothing is sent until its end. */
      readonly kind: 'circuitIsolated';
      readonly at: number;
      readonly reason?: string | undefined;
    }
  | { readonly kind: 'circuitIsolationEnded'; readonly at: number };

/** A change of the adaptive limit, with the time at which it was due. */
export type AimdEvent =
  | {
      readonly kind: 'decelerated' | 'reaccelerated';
      readonly at: number;
      readonly from: number;
      readonly to: number;
      readonly intervalMs: number;
    }
  | { readonly kind: 'coolingStarted'; readonly at: number; readonly untilAt: number }
  | {
      readonly kind: 'ceilingReset';
      readonly at: number;
      readonly from: number;
      readonly to: number;
    };

/** A rate limit or the cost budget delays a request, or has refused it. */
export interface LimitDeniedEvent {
  readonly kind: 'limitDenied';
  readonly at: number;
  /** The limit with the longest wait; `costBudget`: the cost budget. */
  readonly limit: string;
  readonly cost: number;
  /** The amount that the limit has left. */
  readonly available: number;
  readonly retryAfterMs: number;
  /** Whether the request waits; false: it was refused. */
  readonly waits: boolean;
}

/**
 * Why an adaptive policy has changed its limit. `rejected`: the provider rejected attempts.
 * `accepted`: the provider accepts more. `headers`: answers report a limit. `estimate`: the
 * estimate of the provider's limit has changed. `limit`: a configured limit binds. `latency`:
 * answers have become slower or faster. `failures`: too many attempts failed. `recovered`: no
 * attempt failed for long.
 */
export type AdaptationReason =
  | 'rejected'
  | 'accepted'
  | 'headers'
  | 'estimate'
  | 'limit'
  | 'latency'
  | 'failures'
  | 'recovered';

/** The latency gradient, a cap that was found, timeouts or an outage moved the concurrency limit. */
export interface LimitAdaptedEvent {
  readonly kind: 'limitAdapted';
  readonly at: number;
  readonly reason: AdaptationReason;
  readonly from: number;
  readonly to: number;
}

/**
 * The rate was measured again (`rejected`: from the rate sent to the rate accepted), or has changed
 * by a tenth.
 */
export interface RateAdaptedEvent {
  readonly kind: 'rateAdapted';
  readonly at: number;
  readonly reason: AdaptationReason;
  /** Requests a second, before and after. Infinity: nothing bounded them. */
  readonly from: number;
  readonly to: number;
}

/**
 * The reported or learned rate lets no request pass before `untilAt`, which is more than
 * `maxRetryAfterMs` away. Requests wait.
 */
export interface RateHeldEvent {
  readonly kind: 'rateHeld';
  readonly at: number;
  /** By the limiter's clock, as planned now; a better report lets requests pass earlier. */
  readonly untilAt: number;
}

/**
 * The provider cannot be reached (`unreachable`) or rejects everything (`rejected`), and is tested
 * with single probes; or that is over.
 */
export interface OutageEvent {
  readonly kind: 'outageStarted' | 'outageEnded';
  readonly at: number;
  readonly reason: 'unreachable' | 'rejected';
}

/** A decision for all requests, because the provider takes none for long. */
export interface SuspendedEvent {
  readonly kind: 'suspended';
  readonly at: number;
  /**
   * - `longWait`: it named a wait beyond `maxRetryAfterMs`;
   * - `quota`, `billing`: a quota or a credit is used up;
   * - `unreachable`: it could not be reached for `outageMs`.
   */
  readonly reason: 'longWait' | 'quota' | 'billing' | 'unreachable';
  /** Whether the waiting requests have failed, or go on waiting. */
  readonly onLongWait: 'fail' | 'wait';
  /** The number of waiting requests. */
  readonly requests: number;
  /** When a request is sent again, by the clock, in ms. */
  readonly untilAt: number;
}

/** The store that workers share cannot be reached, or answers again. */
export type StoreEvent =
  | {
      readonly kind: 'storeLost';
      readonly at: number;
      readonly error: string;
      /**
       * `pause`: no request is sent meanwhile. `share`: each worker uses an equal share of the
       * limits.
       */
      readonly meanwhile: 'pause' | 'share';
    }
  | { readonly kind: 'storeBack'; readonly at: number; readonly awayMs: number }
  | {
      /**
       * The store has lost its data, or no worker has called it for `keepMs`: it has no record of
       * earlier requests any more.
       */
      readonly kind: 'storeForgot';
      readonly at: number;
    }
  | {
      /** Another worker has begun with other limits, which now apply to all workers. */
      readonly kind: 'sharedLimitsChanged';
      readonly at: number;
      /** Counts the configurations of the fleet. */
      readonly epoch: number;
      readonly limits: readonly string[];
    }
  | {
      /** This worker made no call for longer than `ttlMs`, and has lost its slots and bytes. */
      readonly kind: 'leaseLost';
      readonly at: number;
    }
  | {
      /** This worker has begun, or stopped, to run the learning controller of the fleet. */
      readonly kind: 'leaderChanged';
      readonly at: number;
      readonly leads: boolean;
    };

export type PolicyEvent =
  | StoreEvent
  | CircuitEvent
  | AimdEvent
  | LimitDeniedEvent
  | LimitAdaptedEvent
  | RateAdaptedEvent
  | RateHeldEvent
  | OutageEvent
  | SuspendedEvent;

/** Receives the events of a policy. Must not throw. */
export type Emit = (fact: PolicyEvent) => void;

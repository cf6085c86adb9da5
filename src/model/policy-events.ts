/** Events that policies emit beside their decisions: changes that are worth a line in a log. */

/** A transition of the circuit breaker, with the time at which it was due. */
export type CircuitEvent =
  | {
      readonly kind: 'circuitOpened';
      readonly at: number;
      /** Until a probe may go. */
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

/** A rate limit delays a request, or has refused it. */
export interface LimitDeniedEvent {
  readonly kind: 'limitDenied';
  readonly at: number;
  /** The limit with the longest wait. */
  readonly limit: string;
  readonly cost: number;
  /** What the limit has left. */
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

/** The latency gradient, or a cap that was found, has moved the concurrency limit. */
export interface LimitAdaptedEvent {
  readonly kind: 'limitAdapted';
  readonly at: number;
  readonly reason: AdaptationReason;
  readonly from: number;
  readonly to: number;
}

/**
 * The rate was measured anew (`rejected`: what was sent, and what is accepted), or has moved by a tenth.
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
 * The provider cannot be reached (`unreachable`) or rejects everything (`rejected`), and is tested with
 * single probes; or that is over.
 */
export interface OutageEvent {
  readonly kind: 'outageStarted' | 'outageEnded';
  readonly at: number;
  readonly reason: 'unreachable' | 'rejected';
}

/** One decision for all requests: the provider takes nothing for long. */
export interface SuspendedEvent {
  readonly kind: 'suspended';
  readonly at: number;
  /**
   * - `longWait`: it named a wait beyond `maxRetryAfterMs`;
   * - `quota`, `billing`: a quota or a credit is used up;
   * - `unreachable`: it could not be reached for `outageMs`.
   */
  readonly reason: 'longWait' | 'quota' | 'billing' | 'unreachable';
  /** Whether those that waited have failed, or wait. */
  readonly onLongWait: 'fail' | 'wait';
  /** How many waited. */
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
      /** `pause`: nothing is sent meanwhile. `share`: an equal share of the limits is. */
      readonly meanwhile: 'pause' | 'share';
    }
  | { readonly kind: 'storeBack'; readonly at: number; readonly awayMs: number }
  | {
      /**
       * The store has lost its data, or nobody has called it for `keepMs`: nothing of what was sent before
       * is known any more.
       */
      readonly kind: 'storeForgot';
      readonly at: number;
    }
  | {
      /** Another worker has begun with other limits, which are in force for all workers now. */
      readonly kind: 'sharedLimitsChanged';
      readonly at: number;
      /** Counts the configurations of the fleet. */
      readonly epoch: number;
      readonly limits: readonly string[];
    }
  | {
      /** This worker was silent for longer than `ttlMs`, and had lost what it held. */
      readonly kind: 'leaseLost';
      readonly at: number;
    }
  | {
      /** This worker runs the learning controller of the fleet from now on, or no more. */
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
  | OutageEvent
  | SuspendedEvent;

/** Receives the events of a policy. Must not throw. */
export type Emit = (fact: PolicyEvent) => void;

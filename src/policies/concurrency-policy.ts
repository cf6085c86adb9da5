import { integer, type Option } from './option.ts';
import {
  ALWAYS_NORMAL,
  type ModeState,
  type Policy,
  type PolicyDefinition,
  REFUSED,
  type RequestCost,
} from './policy.ts';
import { CostAboveLimitError } from './rate-limit/rate-limit.ts';

/** Slots in normal mode. */
export const DEFAULT_CONCURRENCY = 400;
/** Slots for requests that are admitted in throttled mode. */
const DEFAULT_THROTTLED_CONCURRENCY = 10;

/** How many requests may be in flight. */
export interface ConcurrencyConfig {
  /** The greatest number of requests in flight, an integer >= 1. Default 400. */
  readonly concurrency?: number;
  /**
   * How many of the requests that were admitted in throttled mode may be in flight, an integer >=
   * 1. No effect under the adaptive rate. Default 10.
   */
  readonly throttledConcurrency?: number;
}

/** Requests, each counted by its weight. */
export interface ConcurrencySnapshot {
  readonly limit: number;
  readonly inFlight: number;
  readonly throttledLimit: number;
  /** How many of `inFlight` were admitted in throttled mode. */
  readonly throttledInFlight: number;
}

/**
 * Counts requests in flight, each by its weight: a request takes all of its slots, or none. In
 * throttled mode a request needs throttled slots too; those that were admitted before count only
 * towards the limit.
 *
 * A charge is the number of slots, below 0 for throttled ones: one number, which avoids an
 * allocation for each request.
 */
export class ConcurrencyPolicy implements Policy<number> {
  limit: number;
  /** The upper bound of an adaptive limit; undefined if the limit does not adapt. */
  most: number | undefined = undefined;
  throttledLimit: number;
  inFlight = 0;
  throttledInFlight = 0;
  mode: ModeState;

  constructor(limit: number, throttledLimit: number, mode: ModeState = ALWAYS_NORMAL) {
    this.limit = limit;
    this.throttledLimit = throttledLimit;
    this.mode = mode;
  }

  /** Whether no request can pass until a slot is given back. */
  get isFull(): boolean {
    return this.inFlight >= this.limit;
  }

  /** The upper bound of an adaptive limit. */
  get maxLimit(): number {
    return this.most ?? this.limit;
  }

  /** A request that weighs more than an adaptive limit is sent when no other is in flight. */
  wait({ weight = 1 }: RequestCost, now: number): number {
    if (this.isFull) return Number.POSITIVE_INFINITY;
    if (weight > 1) {
      if (weight > this.maxLimit) return REFUSED;
      if (this.inFlight > 0 && this.inFlight + weight > this.limit) return Number.POSITIVE_INFINITY;
    }
    const throttled = this.throttledInFlight;
    if (throttled === 0 || throttled + weight <= this.throttledLimit) return 0;
    return Math.max(0, this.mode.throttledUntil - now);
  }

  refusal({ weight = 1 }: RequestCost): Error {
    return new CostAboveLimitError('concurrency', weight, this.maxLimit);
  }

  impossible(request: RequestCost): Error | undefined {
    const { weight = 1 } = request;
    return weight > 1 && weight > this.maxLimit ? this.refusal(request) : undefined;
  }

  take({ weight = 1 }: RequestCost, now: number): number {
    this.inFlight += weight;
    if (now >= this.mode.throttledUntil) return weight;
    this.throttledInFlight += weight;
    return -weight;
  }

  giveBack(charge: number): void {
    if (charge > 0) this.inFlight -= charge;
    else {
      this.inFlight += charge;
      this.throttledInFlight += charge;
    }
  }

  snapshot(): ConcurrencySnapshot {
    const { limit, inFlight, throttledLimit, throttledInFlight } = this;
    return { limit, inFlight, throttledLimit, throttledInFlight };
  }
}

/** @param mode throttled mode; undefined: always normal */
export function concurrencyPolicyOf(
  {
    concurrency = DEFAULT_CONCURRENCY,
    throttledConcurrency = DEFAULT_THROTTLED_CONCURRENCY,
  }: ConcurrencyConfig,
  mode: ModeState | undefined,
): ConcurrencyPolicy {
  return new ConcurrencyPolicy(concurrency, throttledConcurrency, mode);
}

export const CONCURRENCY_OPTIONS = {
  concurrency: integer(1, DEFAULT_CONCURRENCY, 'requests', 'most requests in flight'),
  throttledConcurrency: integer(
    1,
    DEFAULT_THROTTLED_CONCURRENCY,
    'requests',
    'the same for requests that were admitted in throttled mode',
  ),
} satisfies Record<keyof ConcurrencyConfig, Option>;

export const CONCURRENCY: PolicyDefinition<
  ConcurrencyConfig,
  ConcurrencyPolicy,
  ConcurrencyConfig,
  'concurrencyLimit'
> = {
  kind: 'concurrency',
  isHeld: true,
  options: CONCURRENCY_OPTIONS,

  create: (options, { mode }) => concurrencyPolicyOf(options, mode),

  configure:
    (slots, { concurrency, throttledConcurrency }, { setConcurrency }) =>
    () => {
      if (throttledConcurrency !== undefined) slots.throttledLimit = throttledConcurrency;
      if (concurrency !== undefined) setConcurrency(concurrency);
    },

  isAtRest: ({ inFlight }) => inFlight === 0,

  metrics: {
    concurrencyLimit: {
      name: 'headgate.concurrency.limit',
      unit: '{request}',
      meaning: 'most requests in flight, now and in throttled mode',
      by: 'mode',
    },
  },

  measure({ limit, throttledLimit, mode, most }) {
    if (mode !== ALWAYS_NORMAL) {
      return { concurrencyLimit: { normal: limit, throttled: throttledLimit } };
    }
    // With an adaptive rate, throttled mode has the same slots. An operator around this policy
    // alone has no such mode.
    return { concurrencyLimit: { normal: limit, ...(most !== undefined && { throttled: limit }) } };
  },
};

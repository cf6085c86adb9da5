import { ALWAYS_NORMAL, type Core, type Demand, type ModeState } from './core.ts';
import { integer } from './option.ts';
import type { PolicyDefinition } from './policy-definition.ts';

/** Slots in normal mode (seed: 000). */
export const DEFAULT_CONCURRENCY = 400;
/** Slots for requests that are admitted in throttled mode (seed: 000). */
const DEFAULT_THROTTLED_CONCURRENCY = 10;

/** How many requests may be in flight. */
export interface ConcurrencyConfig {
  /** Requests in flight at the most, an integer >= 1. Default 400. */
  readonly concurrency?: number;
  /** Of those admitted in throttled mode, how many may be in flight, an integer >= 1. Default 10. */
  readonly throttledConcurrency?: number;
}

/** Charges. */
export const SLOT = 1;
export const SLOT_AND_THROTTLED_SLOT = 2;

/** Requests. */
export interface SlotsSnapshot {
  readonly limit: number;
  readonly inFlight: number;
  readonly throttledLimit: number;
  /** Those of `inFlight` that were admitted in throttled mode. */
  readonly throttledInFlight: number;
}

/**
 * Counts requests in flight. In throttled mode a request needs a throttled slot too; those that
 * were admitted before count for the limit only.
 */
export class Slots implements Core<number> {
  limit: number;
  throttledLimit: number;
  inFlight = 0;
  throttledInFlight = 0;
  private readonly mode: ModeState;

  constructor(limit: number, throttledLimit: number, mode: ModeState = ALWAYS_NORMAL) {
    this.limit = limit;
    this.throttledLimit = throttledLimit;
    this.mode = mode;
  }

  /** Whether time alone does not help. */
  get isFull(): boolean {
    return this.inFlight >= this.limit;
  }

  wait(_demand: Demand, now: number): number {
    if (this.isFull) return Number.POSITIVE_INFINITY;
    if (this.throttledInFlight < this.throttledLimit) return 0;
    return Math.max(0, this.mode.throttledUntil - now);
  }

  take(_demand: Demand, now: number): number {
    this.inFlight += 1;
    if (now >= this.mode.throttledUntil) return SLOT;
    this.throttledInFlight += 1;
    return SLOT_AND_THROTTLED_SLOT;
  }

  giveBack(charge: number): void {
    this.inFlight -= 1;
    if (charge === SLOT_AND_THROTTLED_SLOT) this.throttledInFlight -= 1;
  }

  snapshot(): SlotsSnapshot {
    const { limit, inFlight, throttledLimit, throttledInFlight } = this;
    return { limit, inFlight, throttledLimit, throttledInFlight };
  }
}

/** @param mode throttled mode; undefined: always normal */
export function slotsOf(
  {
    concurrency = DEFAULT_CONCURRENCY,
    throttledConcurrency = DEFAULT_THROTTLED_CONCURRENCY,
  }: ConcurrencyConfig,
  mode: ModeState | undefined,
): Slots {
  return new Slots(concurrency, throttledConcurrency, mode);
}

export const CONCURRENCY: PolicyDefinition<ConcurrencyConfig, Slots> = {
  kind: 'concurrency',
  isHeld: true,
  options: {
    concurrency: integer(1, DEFAULT_CONCURRENCY, 'requests', 'in flight at the most'),
    throttledConcurrency: integer(
      1,
      DEFAULT_THROTTLED_CONCURRENCY,
      'requests',
      'the same for those admitted in throttled mode',
    ),
  },

  create: (options, { mode }) => slotsOf(options, mode),

  configure:
    (slots, { concurrency, throttledConcurrency }, { setConcurrency }) =>
    () => {
      if (throttledConcurrency !== undefined) slots.throttledLimit = throttledConcurrency;
      if (concurrency !== undefined) setConcurrency(concurrency);
    },

  isAtRest: ({ inFlight }) => inFlight === 0,
};

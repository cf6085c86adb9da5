import type { LimitAlgorithm, LimitOptions, LimitUnit } from './limit-options.ts';
import type { Capacity, Charge, LimitSize, LimitState, TokenCounts } from './limit-state.ts';
import { TokenBucket } from './token-bucket.ts';
import { FixedWindow, SlidingWindow } from './windows.ts';

/** The state of one limit in an answer, as of when the request was admitted or rejected. */
export interface LimitStatus {
  name: string;
  unit: LimitUnit;
  limit: number;
  /** An integer >= 0. */
  remaining: number;
  /** Milliseconds until the limit is fully available again, if nothing more is sent. */
  resetMs: number;
}

/** The charges of a request in every limit. Only a {@link LimitSet} reads the fields. */
export type Charges = readonly { readonly real: Charge; readonly told: Charge | undefined }[];

/** The limit that a request must wait for longest, and the wait. */
export interface LimitRefusal {
  readonly limit: string;
  /** Infinity: the request is larger than the limit. */
  readonly waitMs: number;
}

interface KeptLimit {
  readonly name: string;
  readonly options: LimitOptions;
  readonly state: LimitState;
  /** The advertised limit, if it differs: it counts but never rejects. */
  readonly told: LimitState | undefined;
}

function makeState(
  size: LimitSize & { algorithm: LimitAlgorithm; burst?: number },
  capacity: Capacity,
): LimitState {
  if (size.algorithm === 'token-bucket') {
    return new TokenBucket(size, size.burst ?? size.limit, capacity);
  }
  return size.algorithm === 'fixed-window'
    ? new FixedWindow(size, capacity)
    : new SlidingWindow(size, capacity);
}

/** The cost of a request before its output tokens are known. */
function firstCost({ unit, charge }: LimitOptions, input: number, maxOutput: number): number {
  if (unit === 'requests') return 1;
  if (unit === 'input-tokens') return input;
  return (unit === 'tokens' ? input : 0) + (charge === 'actual' ? 0 : maxOutput);
}

function finalCost({ unit }: LimitOptions, used: TokenCounts): number {
  return (unit === 'tokens' ? used.inputTokens : 0) + used.outputTokens;
}

/** All rate limits of a provider: a request is charged to all of them or to none. */
export class LimitSet {
  readonly #limits: readonly KeptLimit[];
  readonly #capacity: Capacity;

  constructor(limits: readonly LimitOptions[], capacity: Capacity) {
    this.#capacity = capacity;
    this.#limits = limits.map((options) => {
      const { advertised, algorithm } = options;
      const told = advertised ? makeState({ algorithm, ...advertised }, capacity) : undefined;
      const state = makeState(options, capacity);
      return { name: options.name ?? options.unit, options, state, told };
    });
  }

  /** The limit that needs the longest wait, or undefined when the request fits all of them. */
  check(nowMs: number, inputTokens: number, maxTokens: number): LimitRefusal | undefined {
    let refusal: LimitRefusal | undefined;
    for (const { name, options, state } of this.#limits) {
      const waitMs = state.waitMs(nowMs, firstCost(options, inputTokens, maxTokens));
      if (waitMs > (refusal?.waitMs ?? 0)) refusal = { limit: name, waitMs };
    }
    return refusal;
  }

  /** Charges a request to every limit. Call this only after `check` found that it fits. */
  charge(nowMs: number, inputTokens: number, maxTokens: number): Charges {
    return this.#limits.map(({ options, state, told }) => {
      const cost = firstCost(options, inputTokens, maxTokens);
      return { real: state.charge(nowMs, cost), told: told?.charge(nowMs, cost) };
    });
  }

  /** Corrects the charges in limits that settle or charge actual tokens. */
  settle(nowMs: number, charges: Charges, used: TokenCounts): void {
    this.#limits.forEach(({ options, state, told }, index) => {
      const charge = charges[index];
      const { unit, charge: mode = 'upfront' } = options;
      if (charge === undefined || mode === 'upfront') return;
      if (unit === 'requests' || unit === 'input-tokens') return;
      const actual = finalCost(options, used);
      state.settle(nowMs, charge.real, actual);
      if (charge.told !== undefined) told?.settle(nowMs, charge.told, actual);
    });
  }

  /** Counts a rejected request against the limits on requests. */
  penalise(nowMs: number): void {
    for (const { options, state, told } of this.#limits) {
      if (options.unit !== 'requests') continue;
      state.penalise(nowMs, 1);
      told?.penalise(nowMs, 1);
    }
  }

  /** The limits that answers report, in the order of the options. */
  status(nowMs: number): LimitStatus[] {
    const factor = this.#capacity.announcedFactorAt(nowMs);
    const statuses: LimitStatus[] = [];
    for (const { name, options, state, told } of this.#limits) {
      if (options.advertised === false) continue;
      const { limit: full, windowMs } = options.advertised ?? options;
      const shown = told ?? state;
      const limit = Math.floor(full * factor);
      const remaining = Math.min(limit, Math.floor(shown.remaining(nowMs)));
      const resetMs = shown.resetMs(nowMs);
      const finiteMs = Number.isFinite(resetMs) ? resetMs : windowMs;
      statuses.push({ name, unit: options.unit, limit, remaining, resetMs: finiteMs });
    }
    return statuses;
  }

  /** The amount that the limits on a unit allow in a time of full capacity; Infinity: no limit. */
  allowed(unit: LimitUnit, fullCapacityMs: number): number {
    let least = Number.POSITIVE_INFINITY;
    for (const { options } of this.#limits) {
      if (options.unit === unit) {
        least = Math.min(least, (options.limit * fullCapacityMs) / options.windowMs);
      }
    }
    return least;
  }
}

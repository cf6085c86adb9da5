import type { Amounts } from '../model/ticket.ts';
import { checkAmount, checkFunctions, checkInteger, checkName, wrongType } from '../util/check.ts';
import { type Estimator, resultOf } from './size.ts';

/** Options of a stream's requests. */
export interface RequestOptions<T> {
  /** Estimates the size of a request. Default: as `byteEstimate`. A `Sized` keeps its size. */
  readonly estimate?: Estimator<T>;
  /**
   * The costs of a request by rate limit; fractions are rounded up. Default: 1 of `requests`, its
   * `tokens` and `bytes`.
   */
  readonly costs?: (value: T) => Amounts;
  /** An integer; the highest goes first. Default 0. */
  readonly priority?: (value: T) => number;
  /** How many slots of `concurrency` a request takes, an integer >= 1. Default 1. */
  readonly weight?: (value: T) => number;
}

/** Options of a stream's requests that may be found by an id. */
export interface NamedRequestOptions<T> extends RequestOptions<T> {
  /**
   * Returns the id of a request, by which `setPriority` finds it. Any value; undefined: it has
   * none. Several requests may have the same. Default: none has one.
   */
  readonly id?: (value: T) => unknown;
}

export const REQUEST_KEYS = ['estimate', 'costs', 'priority', 'weight'] as const;

export const NAMED_REQUEST_KEYS = [...REQUEST_KEYS, 'id'] as const;

/** @throws TypeError that names a wrong option */
export function checkRequestOptions<T>(options: NamedRequestOptions<T>): void {
  checkFunctions(options, NAMED_REQUEST_KEYS);
}

/** @throws RangeError or TypeError; only the gate knows whether it has this number of slots */
export function checkWeight(weight: number): number {
  return checkInteger('weight', weight, 1);
}

/** The weight of a value. @throws EstimatorError */
export function weightOf<T>(weight: (value: T) => number, value: T): number {
  return resultOf(weight, value, 'weight', checkWeight);
}

/** @throws RangeError or TypeError */
export function checkPriority(priority: number): number {
  return checkInteger('priority', priority, Number.MIN_SAFE_INTEGER);
}

/** @throws RangeError or TypeError. Unknown limits are found at the gate */
export function checkCosts(costs: Amounts): Amounts {
  if (typeof costs !== 'object' || costs === null) {
    wrongType('costs', 'an object of numbers', costs);
  }
  for (const [name, amount] of Object.entries(costs)) {
    checkName('costs', name);
    checkAmount(`costs.${name}`, amount);
  }
  return costs;
}

import { Observable, type Subscriber } from 'rxjs';
import { BYTE_BUDGET } from '../policies/byte-budget-policy.ts';
import { CONCURRENCY } from '../policies/concurrency-policy.ts';
import { checkInteger, checkNumber } from '../util/check.ts';

/** How many requests may be in flight. */
export interface ConcurrencyOptions {
  /**
   * The greatest number of requests in flight, an integer >= 1, or a stream of these. Default 400.
   */
  readonly concurrency?: Adjustable;
  /** How many of the requests that were admitted in throttled mode may be in flight. Default 10. */
  readonly throttledConcurrency?: number;
}

/** How many bytes may be in flight. */
export interface ByteBudgetOptions {
  /** Bytes in flight before requests wait, an integer >= 0, or a stream of these. Default 5 MiB. */
  readonly maxBytes?: Adjustable;
  /** The multiple of its size that a request is charged in throttled mode, >= 1. Default 20. */
  readonly throttledByteFactor?: number;
}

export const CONCURRENCY_KEYS = Object.keys(CONCURRENCY.options);
export const BYTE_BUDGET_KEYS = Object.keys(BYTE_BUDGET.options);

/** @throws RangeError or TypeError that names a wrong option */
export function checkConcurrencyOptions(options: ConcurrencyOptions): void {
  checkAdjustable('concurrency', options.concurrency, 1);
  if (options.throttledConcurrency !== undefined) {
    checkInteger('throttledConcurrency', options.throttledConcurrency, 1);
  }
}

/** @throws RangeError or TypeError that names a wrong option */
export function checkByteBudgetOptions(options: ByteBudgetOptions): void {
  checkAdjustable('maxBytes', options.maxBytes, 0);
  if (options.throttledByteFactor !== undefined) {
    checkNumber('throttledByteFactor', options.throttledByteFactor, 1);
  }
}

/** The options that are numbers, and no streams of them. */
export function numberIn<K extends string>(
  values: Readonly<Partial<Record<K, Adjustable | undefined>>>,
): Readonly<Partial<Record<K, number>>> {
  const entries = Object.entries(values).filter(([, value]) => typeof value === 'number');
  return Object.fromEntries(entries) as Partial<Record<K, number>>;
}

/** Makes a limit follow a stream of limits while `out` is subscribed. */
export function followConcurrency<R>(
  out: Subscriber<R>,
  { concurrency }: ConcurrencyOptions,
  apply: (limit: number) => void,
): void {
  follow(out, 'concurrency', concurrency, 1, apply);
}

/** Makes a budget follow a stream of budgets while `out` is subscribed. */
export function followMaxBytes<R>(
  out: Subscriber<R>,
  { maxBytes }: ByteBudgetOptions,
  apply: (limit: number) => void,
): void {
  follow(out, 'maxBytes', maxBytes, 0, apply);
}

/** A limit, or a stream of limits. Each emitted limit applies at once. */
export type Adjustable = number | Observable<number>;

/** @throws RangeError or TypeError that names the option */
function checkAdjustable(name: string, value: Adjustable | undefined, least: number): void {
  if (value !== undefined && !(value instanceof Observable)) checkInteger(name, value, least);
}

/**
 * Applies the limits of a stream while `out` is subscribed. A wrong limit, or an error of
 * the stream, errors `out`; its completion leaves the last limit in force.
 */
function follow<T>(
  out: Subscriber<T>,
  name: string,
  value: Adjustable | undefined,
  least: number,
  apply: (limit: number) => void,
): void {
  if (!(value instanceof Observable)) return;
  const limits = value.subscribe({
    next: (limit) => {
      try {
        apply(checkInteger(name, limit, least));
      } catch (error) {
        out.error(error);
      }
    },
    error: (error) => out.error(error),
  });
  out.add(limits);
}

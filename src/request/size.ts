import { EstimatorError } from '../model/errors.ts';
import { estimateBytes } from '../sizing/estimate.ts';
import { checkAmount, checkFunction } from '../util/check.ts';

/** The result of an estimator: bytes alone (tokens are then estimated), or both. */
export type Size = number | { readonly bytes: number; readonly tokens?: number };

/** Returns the size of a value. A negative, NaN or infinite size, or a throw, fails the request. */
export type Estimator<T> = (value: T) => Size;

/** The result of a user's function, as `read` returns it. @throws EstimatorError */
export function resultOf<T, V, R>(
  fn: (value: T) => V,
  value: T,
  name: string,
  read: (given: V) => R,
): R {
  try {
    return read(fn(value));
  } catch (error) {
    throw new EstimatorError(fn.name || name, error);
  }
}

interface SizeOfRequest {
  readonly bytes: number;
  readonly tokens: number | undefined;
}

/** The size that an estimator returns. @throws EstimatorError */
export function sizeOf<T>(value: T, estimate: Estimator<T>): SizeOfRequest {
  return resultOf(estimate, value, 'estimate', readSize);
}

function readSize(size: Size): SizeOfRequest {
  if (size instanceof Promise) throw new TypeError('it must not return a promise');
  if (typeof size !== 'object' || size === null) {
    return { bytes: checkAmount('bytes', size), tokens: undefined };
  }
  const { bytes, tokens } = size;
  return {
    bytes: checkAmount('bytes', bytes),
    tokens: tokens === undefined ? undefined : checkAmount('tokens', tokens),
  };
}

/** @throws TypeError for a value that is no function */
export function checkEstimator<T>(estimate: Estimator<T> | undefined): Estimator<T> {
  if (estimate === undefined) return estimateBytes;
  checkFunction('estimate', estimate);
  return estimate;
}

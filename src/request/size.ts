import { EstimatorError } from '../model/errors.ts';
import { estimateBytes } from '../sizing/estimate.ts';
import { checkAmount, checkFunction } from '../util/check.ts';

/** The result of an estimator: bytes alone (tokens are then estimated), or both. */
export type Size = number | { readonly bytes: number; readonly tokens?: number };

/** Returns the size of a value. A negative, NaN or infinite size, or a throw, fails the request. */
export type Estimator<T> = (value: T) => Size;

/** Checks the result of an estimator. @throws EstimatorError */
export function sizeOf<T>(
  value: T,
  estimate: Estimator<T>,
): { bytes: number; tokens: number | undefined } {
  try {
    const size = estimate(value);
    if (size instanceof Promise) throw new TypeError('it must not return a promise');
    if (typeof size !== 'object' || size === null) {
      return { bytes: checkAmount('bytes', size), tokens: undefined };
    }
    return {
      bytes: checkAmount('bytes', size.bytes),
      tokens: size.tokens === undefined ? undefined : checkAmount('tokens', size.tokens),
    };
  } catch (error) {
    throw new EstimatorError(estimate.name || 'estimate', error);
  }
}

/** @throws TypeError for a value that is no function */
export function checkEstimator<T>(estimate: Estimator<T> | undefined): Estimator<T> {
  if (estimate === undefined) return estimateBytes;
  checkFunction('estimate', estimate);
  return estimate;
}

import { estimateBytes } from '../estimate/estimate.ts';
import { checkAmount, checkFunction } from '../model/check.ts';
import { EstimatorError } from '../model/errors.ts';

/** What an estimator may return: bytes alone (tokens are then estimated), or both. */
export type Size = number | { readonly bytes: number; readonly tokens?: number };

/** Says how large a value is. A negative, NaN or infinite size, or a throw, errors the stream. */
export type Estimator<T> = (value: T) => Size;

/** Takes in what an estimator says, or throws an EstimatorError. */
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

/** @throws TypeError for something given that is no function */
export function checkEstimator<T>(estimate: Estimator<T> | undefined): Estimator<T> {
  if (estimate === undefined) return estimateBytes;
  checkFunction('estimate', estimate);
  return estimate;
}

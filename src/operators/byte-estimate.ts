import { map, type OperatorFunction } from 'rxjs';
import { estimateTokens } from '../estimate/estimate.ts';
import { Sized } from '../model/sized.ts';
import { checkEstimator, type Estimator, sizeOf } from '../request/size.ts';

/**
 * Gives each value its size in bytes and tokens.
 *
 * Without an estimator: strings by their UTF-8 bytes; buffers, typed arrays and blobs by their
 * length; model inputs, training data and chat bodies by their text, tokens and images; anything
 * else by its JSON. Nothing is encoded or copied for it.
 *
 * An estimator that throws, or returns a negative, NaN or infinite size, errors the stream with an
 * EstimatorError that names it.
 *
 * @param estimate bytes of a value, or `{bytes, tokens}`; fractions are rounded up
 * @throws TypeError for an estimator that is no function
 * @example
 * prompts$.pipe(byteEstimate(), chunkBy({ maxItems: 16 }), throttle((batch) => send(batch)))
 */
export function byteEstimate<T>(estimate?: Estimator<T>): OperatorFunction<T, Sized<T>> {
  const estimator = checkEstimator(estimate);
  return map((value) => {
    const { bytes, tokens } = sizeOf(value, estimator);
    return new Sized(value, bytes, tokens ?? estimateTokens(value, bytes));
  });
}

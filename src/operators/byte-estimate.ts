import { defer, map, type OperatorFunction } from 'rxjs';
import type { Instrumentation } from '../model/instrumentation.ts';
import { Sized } from '../model/sized.ts';
import {
  OBSERVED_KEYS,
  type ObservedOptions,
  resolveCommonOptions,
} from '../request/gate-options.ts';
import { checkEstimator, type Estimator, sizeOf } from '../request/size.ts';
import { estimateBytes, estimateTokens } from '../sizing/estimate.ts';
import { sizedKindOf } from '../sizing/kind.ts';
import { checkKeys } from '../util/check.ts';

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
 * @param options `name` and `telemetry`, as of every operator
 * @throws TypeError for an estimator that is no function, or a wrong option
 * @example
 * prompts$.pipe(byteEstimate(), chunkBy({ maxItems: 16 }), throttle((batch) => send(batch)))
 */
export function byteEstimate<T>(
  estimate?: Estimator<T>,
  options: ObservedOptions = {},
): OperatorFunction<T, Sized<T>> {
  const estimator = checkEstimator(estimate);
  checkKeys('byteEstimate', options, OBSERVED_KEYS);
  const common = resolveCommonOptions(options);
  const sized = (value: T) => {
    const { bytes, tokens } = sizeOf(value, estimator);
    return new Sized(value, bytes, tokens ?? estimateTokens(value, bytes));
  };
  return (source) =>
    defer(() => {
      const { instrumentation } = common.withTelemetry();
      return source.pipe(
        map(instrumentation?.estimated === undefined ? sized : telling(instrumentation, sized)),
      );
    });

  /** The same, and reports each size. */
  function telling(
    instrumentation: Instrumentation,
    size: (value: T) => Sized<T>,
  ): (value: T) => Sized<T> {
    const isOwn = estimator !== estimateBytes;
    return (value) => {
      const estimated = size(value);
      instrumentation.estimated?.(estimated.bytes, isOwn ? 'custom' : sizedKindOf(value));
      return estimated;
    };
  }
}

import { type Limiter, createLimiter as plainLimiter } from '../limiter/limiter.ts';
import type { LimiterOptions as PlainOptions } from '../limiter/limiter-options.ts';
import type { Watched } from '../telemetry/telemetry.ts';
import { split, withTelemetry } from './watched.ts';

export interface LimiterOptions extends PlainOptions, Watched {}

/**
 * Makes one gate for everybody who uses one API key: streams and promises wait in the same queue,
 * higher priorities first; within one, what is sent again goes first, then what came first.
 *
 * From the first 429, or the first limit that an answer tells, it sends as fast as the API accepts
 * (`adaptive`, by default `'rate'`); where `backoff`, `throttledConcurrency` or `throttledByteFactor`
 * is given, or `adaptive: false`, it backs off and goes on slowly instead.
 *
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * const limiter = createLimiter({ concurrency: 50, requestsPerMinute: 10_000 });
 * prompts$.pipe(limiter.throttle((prompt) => client.complete(prompt))).subscribe(save);
 * const answer = await limiter.run(() => client.complete('ready?'), { priority: 1 });
 */
export function createLimiter(options: LimiterOptions = {}): Limiter {
  const { watched, plain } = split(options);
  return plainLimiter(withTelemetry(plain, watched));
}

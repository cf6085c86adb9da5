import {
  type LimiterGroup,
  type LimiterGroupOptions as PlainOptions,
  createLimiterGroup as plainGroup,
} from '../limiter/group.ts';
import type { Watched } from '../telemetry/telemetry.ts';
import { split, withTelemetry } from './watched.ts';

/** `name` is that of all keys together: a key is never told to telemetry. */
export interface LimiterGroupOptions extends PlainOptions, Watched {}

/**
 * Makes a limiter for each key that turns up (a model, a tenant), with limits of its own beside
 * those that all share. A key that has to wait for its own limits keeps no other waiting. Where the
 * shared limits bind, keys take turns by cost (deficit round robin): none starves, however many
 * requests another has. The rate of each key adapts, as that of a limiter does.
 *
 * @param keyOf the key of a request in a stream; what it throws errors the stream
 * @throws RangeError or TypeError that names a wrong option
 * @example
 * const group = createLimiterGroup((request: Request) => request.model, {
 *   each: (model) => ({ requestsPerMinute: model === 'large' ? 500 : 10_000 }),
 *   shared: { concurrency: 100 },
 * });
 * requests$.pipe(group.throttle((request) => client.complete(request))).subscribe(save);
 * await group.run('large', () => client.complete(urgent), { priority: 1 });
 */
export function createLimiterGroup<T>(
  keyOf: (value: T) => string,
  options: LimiterGroupOptions = {},
): LimiterGroup<T> {
  const { watched, plain } = split(options);
  return plainGroup(keyOf, withTelemetry(plain, watched));
}

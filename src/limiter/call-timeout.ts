import { RequestTimeoutError } from '../model/errors.ts';
import { checkNumber } from '../util/check.ts';
import type { Clock } from '../util/clock.ts';
import { type AcquireOptions, checkAcquireOptions } from './limiter-options.ts';

/**
 * Makes a call that a time bounds, from now to its end: it is aborted then.
 * @throws RangeError or TypeError that names a wrong option
 */
export function withTimeout<R>(
  timeoutMs: number,
  options: AcquireOptions,
  clock: Clock,
  call: (options: AcquireOptions) => Promise<R>,
): Promise<R> {
  checkAcquireOptions(options);
  checkNumber('timeoutMs', timeoutMs, 1);
  const { timeoutMs: _, signal, ...rest } = options;
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  const timer = clock.setTimer(
    () => controller.abort(new RequestTimeoutError(timeoutMs)),
    timeoutMs,
  );
  const promise = call({ ...rest, signal: controller.signal });
  const ended = () => {
    timer.cancel();
    signal?.removeEventListener('abort', abort);
  };
  promise.then(ended, ended);
  return promise;
}

import type { Observable } from 'rxjs';
import type { AttemptContext } from '../request/attempt-context.ts';
import type { RequestOptions } from '../request/ticket-factory.ts';
import { show } from '../util/check.ts';

/** What `limiter.map` calls for each value, and for each attempt. */
export type MapTask<T, R> = (value: T, context: AttemptContext) => R | PromiseLike<R>;

export interface MapOptions<T> extends RequestOptions<T> {
  /** Whether requests that fail are results, too: each is an `Outcome` then. Default false. */
  readonly outcomes?: boolean;
  /** Reads no further, and abandons what waits and runs. */
  readonly signal?: AbortSignal;
}

/** @throws TypeError */
export function checkSignal(signal: unknown): void {
  if (signal === undefined || signal instanceof AbortSignal) return;
  throw new TypeError(`\`signal\` must be an AbortSignal, got ${show(signal)}`);
}

/** All that an Observable emits. An abort unsubscribes, and rejects with the reason. */
export function collect<R>(results: Observable<R>, signal: AbortSignal | undefined): Promise<R[]> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const all: R[] = [];
    const subscription = results.subscribe({
      next: (result) => all.push(result),
      error: reject,
      complete: () => resolve(all),
    });
    if (signal === undefined || subscription.closed) return;
    const abort = () => {
      subscription.unsubscribe();
      reject(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
    subscription.add(() => signal.removeEventListener('abort', abort));
  });
}

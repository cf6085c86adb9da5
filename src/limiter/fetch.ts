import { estimateBytes } from '../estimate/estimate.ts';
import type { AttemptContext } from '../operators/attempt-context.ts';
import type { Task } from './call.ts';
import type { AcquireOptions } from './limiter-options.ts';

/** The `fetch` of Node, or of an SDK. */
export type Fetch = typeof fetch;

type Run = <R>(task: Task<R>, options?: AcquireOptions) => Promise<R>;

/**
 * A `fetch` whose requests go through a limiter. A body that is a stream is read by the first
 * attempt, so such a request is sent once.
 */
export function pacedFetch(run: Run, send: Fetch): Fetch {
  return (input, init) => {
    const request = input instanceof Request ? input : undefined;
    const signal = init?.signal ?? request?.signal;
    const attempt = (context: AttemptContext) => {
      if (init?.body instanceof ReadableStream) context.doNotRetry();
      // A Request gives its body away once: what is sent is a copy.
      return send(request?.clone() ?? input, { ...init, signal: context.signal });
    };
    return run(attempt, { bytes: bytesOf(init?.body), ...(signal && { signal }) });
  };
}

/** What a form or a stream weighs is not known: 0. */
function bytesOf(body: unknown): number {
  const isKnown =
    typeof body === 'string' ||
    body instanceof Blob ||
    body instanceof ArrayBuffer ||
    ArrayBuffer.isView(body);
  return isKnown ? estimateBytes(body) : 0;
}

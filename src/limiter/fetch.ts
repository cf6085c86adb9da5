import type { AttemptContext } from '../operators/attempt-context.ts';
import type { Task } from './call.ts';
import type { AcquireOptions } from './limiter-options.ts';

/** The `fetch` of Node, or of an SDK. */
export type Fetch = typeof fetch;

type Run = <R>(task: Task<R>, options?: AcquireOptions) => Promise<R>;

/**
 * A `fetch` whose requests go through a limiter. A body that is a stream is read by the first
 * attempt, so such a request is sent once.
 *
 * The signal goes to the call as it is: its user may abort the body long after the request, which
 * ends with the head of the response, has ended.
 */
export function pacedFetch(run: Run, send: Fetch): Fetch {
  return (input, init) => {
    const request = input instanceof Request ? input : undefined;
    const signal = init?.signal ?? request?.signal;
    const attempt = (context: AttemptContext) => {
      if (isReadOnce(init?.body)) context.doNotRetry();
      // A Request gives its body away once: what is sent is a copy.
      return send(request?.clone() ?? input, init);
    };
    return run(attempt, { bytes: bytesOf(init?.body), ...(signal && { signal }) });
  };
}

/** Streams of the web and of Node, generators: whatever Node's `fetch` reads piece by piece. */
function isReadOnce(body: unknown): boolean {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}

/** What a form or a stream weighs is not known: 0. */
function bytesOf(body: unknown): number {
  if (typeof body === 'string') return Buffer.byteLength(body);
  if (body instanceof Blob) return body.size;
  return body instanceof ArrayBuffer || ArrayBuffer.isView(body) ? body.byteLength : 0;
}

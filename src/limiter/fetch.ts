import type { Clock } from '../util/clock.ts';
import { heldResponse } from './held-response.ts';
import type { AcquireOptions } from './limiter-options.ts';
import type { Task } from './run-request.ts';

/** The `fetch` of Node, or of an SDK. */
export type Fetch = typeof fetch;

type Run = (task: Task<Response>, options: AcquireOptions) => Promise<Response>;

/**
 * A `fetch` whose requests go through a limiter, each until its body has ended. A body to be sent
 * that is a stream is read by the first attempt, so such a request is sent once.
 *
 * A signal breaks off the call, and its body too; so does the end of the attempt's time.
 */
export function pacedFetch(run: Run, send: Fetch, clock: Clock): Fetch {
  return (input, init) => {
    const request = input instanceof Request ? input : undefined;
    const signal = init?.signal ?? request?.signal;
    const attempt: Task<Response> = async (context) => {
      if (isReadOnce(init?.body)) context.doNotRetry();
      // The user's own counts longer than the attempt: until the last of a body was read.
      const both = signal ? AbortSignal.any([signal, context.signal]) : context.signal;
      // The body of a Request can be read only once, so a copy is sent.
      const response = await send(request?.clone() ?? input, { ...init, signal: both });
      return context.isAbandoned ? response : heldResponse(response, context, clock);
    };
    return run(attempt, { bytes: bytesOf(init?.body), ...(signal && { signal }) });
  };
}

/** Web streams, Node streams and generators: bodies that Node's `fetch` reads in pieces. */
function isReadOnce(body: unknown): boolean {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}

/** The size of a form or a stream is unknown and counts 0. */
function bytesOf(body: unknown): number {
  if (typeof body === 'string') return Buffer.byteLength(body);
  if (body instanceof Blob) return body.size;
  return body instanceof ArrayBuffer || ArrayBuffer.isView(body) ? body.byteLength : 0;
}

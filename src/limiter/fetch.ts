import { Observable } from 'rxjs';
import type { Clock } from '../util/clock.ts';
import { heldResponse } from './held-response.ts';
import type { AcquireOptions } from './limiter-options.ts';
import type { ObservableTask } from './run-request.ts';

/** The `fetch` of Node, or of an SDK. */
export type Fetch = typeof fetch;

/** One call of `fetch`: emits its response, and completes when the body has ended. */
type FetchTask = ObservableTask<Response>;

type Run = (task: FetchTask, options: AcquireOptions) => Promise<Response>;

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
    const attempt: FetchTask = (context) => {
      if (isReadOnce(init?.body)) context.doNotRetry();
      // The user's own counts longer than the attempt: until the last of a body was read.
      const both = signal ? AbortSignal.any([signal, context.signal]) : context.signal;
      // The body of a Request can be read only once, so a copy is sent.
      return exchange(() => send(request?.clone() ?? input, { ...init, signal: both }), clock);
    };
    return run(attempt, { bytes: bytesOf(init?.body), ...(signal && { signal }) });
  };
}

function exchange(call: () => Promise<Response>, clock: Clock): Observable<Response> {
  return new Observable((out) => {
    const holder = {
      ended: () => out.complete(),
      failed: (error: unknown) => out.error(error),
    };
    const answered = (response: Response) => {
      if (out.closed) return;
      const held = heldResponse(response, holder, clock);
      out.next(held ?? response);
      if (held === undefined) out.complete();
    };
    call().then(answered).catch(holder.failed);
  });
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

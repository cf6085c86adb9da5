import { Observable } from 'rxjs';
import type { Clock } from '../model/clock.ts';
import type { AttemptContext } from '../request/attempt-context.ts';
import { heldResponse } from './held-response.ts';
import type { AcquireOptions } from './limiter-options.ts';

/** The `fetch` of Node, or of an SDK. */
export type Fetch = typeof fetch;

/** One call of `fetch`: its response, and the end of that when the body has ended. */
export type FetchTask = (context: AttemptContext) => Observable<Response>;

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
      // A Request gives its body away once: what is sent is a copy.
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
      out.next(held);
      if (held === response) out.complete();
    };
    call().then(answered).catch(holder.failed);
  });
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

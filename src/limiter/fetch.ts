import { BodyUsage } from '../providers/body-usage.ts';
import type { AttemptContext, AttemptTail } from '../request/attempt-context.ts';
import { utf8Bytes } from '../util/utf8.ts';
import { AbortSubscription } from './abort-subscription.ts';
import { checkFetchOptions, type FetchOptions } from './acquire-options.ts';
import type { Calls, Task } from './calls.ts';
import type { Body } from './held-body.ts';
import { abortableResponse, heldResponse, type ResponseHolder } from './held-response.ts';

/** The `fetch` of Node, or of an SDK. */
export type Fetch = typeof fetch;

/** Options of all calls of a paced `fetch`, or of each. */
export type FetchOptionsOf =
  | FetchOptions
  | ((...call: Parameters<Fetch>) => FetchOptions | undefined);

/**
 * A `fetch` whose requests go through a limiter, each until its body has ended. If the request's
 * own body is a stream, the first attempt consumes it, so the request is sent only once.
 *
 * The user's signal and the attempt timeout abort the call, and the response body too.
 */
export function pacedFetch(calls: Calls, options?: FetchOptionsOf): Fetch {
  const { clock } = calls;
  return (input, init) => {
    const request = input instanceof Request ? input : undefined;
    // `null` removes the signal of a Request.
    const signal = (init?.signal === undefined ? request?.signal : init.signal) ?? undefined;
    const attempt: Task<Response> = async (context) => {
      if (isReadOnce(init?.body)) context.doNotRetry();
      // The body of a Request can be read only once, so a copy is sent.
      const sent = request?.clone() ?? input;
      // `context.signal` also aborts when the user's signal does: that ends the request and its
      // attempt.
      const response = await fetch(sent, { ...init, signal: context.signal });
      if (context.isAbandoned) return response;
      const hold = (body: Body) => {
        const found = (value: unknown) => context.readUsage(value);
        const usage = calls.readsUsage ? BodyUsage.of(response, found) : undefined;
        return new HeldAttempt(context, body, signal, usage);
      };
      const held = heldResponse(response, hold, clock);
      if (held !== undefined) return held;
      // A response without a body is complete: there is nothing left to abort.
      if (!signal || !response.body) return response;
      endWith(signal, context, response.body);
      return response instanceof Response
        ? abortableResponse(response, context.signal, clock)
        : response;
    };
    try {
      const own = typeof options === 'function' ? options(input, init) : options;
      if (typeof options === 'function' && own !== undefined) checkFetchOptions(own);
      const bytes = bytesOf(init?.body);
      return calls.run(attempt, { bytes, ...own, ...(signal && { signal }) });
    } catch (error) {
      return Promise.reject(error);
    }
  };
}

/** An attempt that goes on until the body of its response has ended. */
class HeldAttempt implements ResponseHolder {
  private readonly tail: AttemptTail;
  private readonly context: AttemptContext;
  private readonly body: Body;
  private readonly signal: AbortSignal | undefined;
  private readonly usage: BodyUsage | undefined;

  constructor(
    context: AttemptContext,
    body: Body,
    signal: AbortSignal | undefined,
    usage: BodyUsage | undefined,
  ) {
    this.tail = context.hold();
    this.context = context;
    this.body = body;
    this.signal = signal;
    this.usage = usage;
  }

  get attemptSignal(): AbortSignal {
    return this.context.signal;
  }

  arrived(part: unknown): void {
    this.usage?.part(part);
  }

  readWhole(body: unknown): void {
    this.usage?.whole(body);
  }

  ended(): void {
    this.usage?.ended();
    this.tail.ended();
  }

  leftUnread(): void {
    if (this.signal !== undefined) endWith(this.signal, this.context, this.body);
    this.tail.ended();
  }

  failed(error: unknown): void {
    this.tail.failed(error);
  }
}

/** Ends the subscription of a body that no code references any more. */
const dropped = /* @__PURE__ */ new FinalizationRegistry<AbortSubscription>((subscription) =>
  subscription.stop(),
);

/** Lets a signal abort a body that arrives after the end of its attempt. */
export function endWith(signal: AbortSignal, context: AttemptContext, body: object): void {
  const abort = (reason: unknown) => context.abandon(reason);
  dropped.register(body, new AbortSubscription(signal, { abort }));
}

/** Web streams, Node streams and generators: bodies that Node's `fetch` reads in pieces. */
function isReadOnce(body: unknown): boolean {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}

/** The size of a form or a stream is unknown and counts 0. */
function bytesOf(body: unknown): number {
  if (typeof body === 'string') return utf8Bytes(body);
  if (body instanceof Blob) return body.size;
  return body instanceof ArrayBuffer || ArrayBuffer.isView(body) ? body.byteLength : 0;
}

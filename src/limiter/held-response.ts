import type { Clock } from '../util/clock.ts';
import { type Body, type BodyHolder, heldBody } from './held-body.ts';

/**
 * Keeps the attempt running while this body is read. Returns the holder, which this file calls when
 * the body ends.
 */
type Hold = (body: Body) => ResponseHolder;

/** Is called when the body of a response has arrived or will never arrive. */
export interface ResponseHolder extends BodyHolder {
  /** The whole body has arrived, as a method of the response gave it. */
  readWhole?(body: unknown): void;
}

/**
 * The response for the user, if it is held until its body has ended.
 * @returns undefined for a response that is not held, because it has no body, its body was read
 *   before, or it is not ok: a caller that reads only its status must not hold a slot
 */
export function heldResponse(response: Response, hold: Hold, clock: Clock): Response | undefined {
  if (!(response instanceof Response) || !response.ok) return undefined;
  const { body } = response;
  if (body === null || response.bodyUsed || body.locked) return undefined;
  const holder = hold(body);
  // An instance of a subclass may have additional methods.
  if (Object.getPrototypeOf(response) !== Response.prototype) {
    return withBody(heldBody(body, holder, clock), response);
  }
  return observe(response, holder, clock);
}

/** The greatest status of a response that a program can make. */
const MOST_STATUS = 599;

const NOT_HELD: BodyHolder = { ended() {}, leftUnread() {}, failed() {} };

/**
 * The same response, with a body that errors when the signal aborts. To be used for a response of
 * whose body a copy may be read: Node's `fetch` cancels the other copy at an abort, so that it looks
 * like one that was read before, or that has ended.
 */
export function abortableResponse(response: Response, attemptSignal: AbortSignal, clock: Clock) {
  const { body, status } = response;
  const isWrapped = body !== null && !response.bodyUsed && !body.locked && status <= MOST_STATUS;
  if (!isWrapped) return response;
  return withBody(heldBody(body, { ...NOT_HELD, attemptSignal }, clock), response);
}

const HELD = Symbol('held');

/** A response whose body is observed. */
interface Observed extends Response {
  [HELD]: HeldBody;
}

/** A method of a response that reads its whole body, and gives it at once. */
type Reader = 'arrayBuffer' | 'bytes' | 'json' | 'text';

/** The body of one response: unread, read by a method, or read through a copy. */
class HeldBody {
  private readonly holder: ResponseHolder;
  private readonly clock: Clock;
  private isRead = false;
  private copy: Response | undefined = undefined;

  constructor(holder: ResponseHolder, clock: Clock) {
    this.holder = holder;
    this.clock = clock;
  }

  /**
   * The response whose body is observed part by part, for users who do not read it with one method.
   */
  ofParts(response: Response): Response {
    if (this.isRead) return response;
    if (this.copy === undefined && bodyOf(response)?.locked) {
      // A method of `Response.prototype` reads it, so this file does not see its end.
      this.isRead = true;
      this.holder.leftUnread();
      return response;
    }
    this.copy ??= copyOf(response, this.holder, this.clock);
    return this.copy;
  }

  /** The response that has the body now. */
  ofState(response: Response): Response {
    return this.copy ?? response;
  }

  /**
   * Reads the whole body. If nothing has read it before, this reads the original of `fetch`, which
   * is faster.
   */
  read(response: Response, reader: Reader): Promise<unknown> {
    const source = this.copy ?? response;
    const result = methodOf(reader).call(source);
    if (source !== response || this.isRead) return result;
    this.isRead = true;
    const { holder } = this;
    result.then(
      (whole) => {
        holder.readWhole?.(whole);
        holder.ended();
      },
      // A body that is not JSON has arrived nevertheless.
      (error) => (error instanceof SyntaxError ? holder.ended() : holder.failed(error)),
    );
    return result;
  }
}

/** Responses whose users have had no turn to read them yet. */
let unread: Observed[] = [];
/** The function that was asked to call `readAhead`. Fake timers that were removed never call it. */
let scheduler: unknown;

/** Reads ahead of users who do not read at once. */
function readAhead(): void {
  const responses = unread;
  unread = [];
  for (const response of responses) response[HELD].ofParts(response);
}

function observe(response: Response, holder: ResponseHolder, clock: Clock): Response {
  observing ??= prototypeOf();
  // Sets the prototype last: V8 takes several times as long to add a property after that.
  const held = Object.assign(response, { [HELD]: new HeldBody(holder, clock) });
  const observed: Observed = Object.setPrototypeOf(held, observing);
  // Most users read at once, in this turn of the event loop. jsdom and edge runtimes have no
  // `setImmediate`.
  const later = globalThis.setImmediate ?? setTimeout;
  if (unread.length === 0 || later !== scheduler) later(readAhead);
  scheduler = later;
  unread.push(observed);
  return observed;
}

/** Made when it is first needed. */
let observing: object | undefined;

/** The prototype of observed responses, instead of `Response.prototype`. */
function prototypeOf(): object {
  const readers = (['arrayBuffer', 'bytes', 'json', 'text'] as const).filter(
    (name) => methodOf(name) !== undefined,
  );
  return Object.create(Response.prototype, {
    ...Object.fromEntries(
      readers.map((name) => [
        name,
        {
          value(this: Observed) {
            return this[HELD].read(this, name);
          },
        },
      ]),
    ),
    blob: {
      value(this: Observed) {
        return Response.prototype.blob.call(this[HELD].ofParts(this));
      },
    },
    formData: {
      value(this: Observed) {
        return Response.prototype.formData.call(this[HELD].ofParts(this));
      },
    },
    clone: {
      value(this: Observed) {
        const response = this[HELD].ofParts(this);
        return response === this ? Response.prototype.clone.call(this) : response.clone();
      },
    },
    body: {
      get(this: Observed) {
        return bodyOf(this[HELD].ofParts(this));
      },
    },
    bodyUsed: {
      get(this: Observed) {
        return Reflect.get(Response.prototype, 'bodyUsed', this[HELD].ofState(this));
      },
    },
  });
}

function methodOf(name: Reader): (this: Response) => Promise<unknown> {
  return Reflect.get(Response.prototype, name);
}

/** The body of the response of `fetch`, or of a copy. */
function bodyOf(response: Response): Body | null {
  return Reflect.get(Response.prototype, 'body', response);
}

function copyOf(response: Response, holder: BodyHolder, clock: Clock): Response {
  const body = bodyOf(response);
  return body === null ? response : withBody(heldBody(body, holder, clock), response);
}

/** A response with another body, and with the fields that a constructor cannot set. */
function withBody(body: Body | null, from: Response): Response {
  const { status, statusText, headers, url, redirected, type } = from;
  const response = new Response(body, { status, statusText, headers });
  const clone = response.clone.bind(response);
  return Object.defineProperties(response, {
    url: { value: url },
    redirected: { value: redirected },
    type: { value: type },
    clone: { value: () => withBody(clone().body, response) },
  });
}

import type { Clock, Timer } from '../util/clock.ts';

/** How many bytes of a body are read ahead. Nearly all answers are shorter. */
export const READ_AHEAD_BYTES = 256 * 1024;

/** How long a longer body may wait for its reader before it gives up its slot. */
export const UNREAD_MS = 30_000;

/** Is called when a body has arrived or will never arrive. The first call counts. */
export interface BodyHolder {
  /** Ends the body when it aborts. */
  readonly attemptSignal?: AbortSignal;
  /** A part has arrived. */
  arrived?(part: unknown): void;
  ended(): void;
  /** No reader has come, so the body is not waited for any longer, though it may still arrive. */
  leftUnread(): void;
  failed(error: unknown): void;
}

export type Body = NonNullable<Response['body']>;
type Controller = ReadableByteStreamController | ReadableStreamDefaultController;

/** A dropped body ends with its connection, so nothing here may keep a reference to the body. */
const dropped = /* @__PURE__ */ new FinalizationRegistry<() => void>((end) => end());

/**
 * The same body, with a callback for its end, cancellation or failure. It reads ahead of its
 * reader, up to {@link READ_AHEAD_BYTES}, so that an unread body ends too.
 */
export function heldBody(body: Body, holder: BodyHolder, clock: Clock): Body {
  const isBytes = isByteStream(body);
  const { pull, cancel } = readingOf(body, holder, clock);
  const held: Body = isBytes
    ? new ReadableStream({ type: 'bytes', pull, cancel }, { highWaterMark: READ_AHEAD_BYTES })
    : new ReadableStream({ pull, cancel }, { highWaterMark: READ_AHEAD_BYTES, size: sizeOf });
  dropped.register(held, () => void cancel().catch(() => undefined));
  return held;
}

/** As `heldBody`, for a stream of any parts. `readAhead` parts are read ahead. */
export function heldParts<P>(
  parts: ReadableStream<P>,
  holder: BodyHolder,
  clock: Clock,
  readAhead: number,
): ReadableStream<P> {
  const { pull, cancel } = readingOf(parts, holder, clock);
  const held = new ReadableStream<P>({ pull, cancel }, { highWaterMark: readAhead });
  dropped.register(held, () => void cancel().catch(() => undefined));
  return held;
}

/** The source of the held stream: reads `stream`, and calls the holder when it ends. */
function readingOf(stream: ReadableStream, holder: BodyHolder, clock: Clock) {
  const reader = stream.getReader();
  const orAborted = abortable(holder.attemptSignal);
  let unread: Timer | undefined;
  const cancel = (reason?: unknown) => {
    unread?.cancel();
    const cancelled = reader.cancel(reason);
    holder.ended();
    return cancelled;
  };
  const pull = async (controller: Controller) => {
    unread?.cancel();
    try {
      const { done, value } = await orAborted(reader.read());
      if (done) {
        holder.ended();
        close(controller);
        return;
      }
      holder.arrived?.(value);
      controller.enqueue(value);
    } catch (error) {
      holder.failed(error);
      controller.error(error);
      return;
    }
    if ((controller.desiredSize ?? 0) <= 0) {
      unread = clock.setTimer(() => holder.leftUnread(), UNREAD_MS, false);
    }
  };
  return { pull, cancel };
}

/**
 * Lets a read fail when the signal aborts. Node's `fetch` aborts a body that still arrives; a read
 * of one that has arrived would never end, since the body is locked.
 *
 * One listener rejects the present read: a `Promise.race` of each read with one promise of the
 * abort would keep all parts alive until the end of the body.
 */
function abortable(signal: AbortSignal | undefined): <R>(read: Promise<R>) => Promise<R> {
  if (signal === undefined) return (read) => read;
  let reject: (reason: unknown) => void = () => {};
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return (read) =>
    new Promise((resolve, rejectRead) => {
      reject = rejectRead;
      if (signal.aborted) reject(signal.reason);
      read.then(resolve, rejectRead);
    });
}

/** Bodies of `fetch` are byte streams; test doubles may not be. */
function isByteStream(body: Body): boolean {
  try {
    body.getReader({ mode: 'byob' }).releaseLock();
    return true;
  } catch {
    return false;
  }
}

function sizeOf(part: unknown): number {
  return ArrayBuffer.isView(part) ? part.byteLength : 1;
}

/** A reader with its own buffer gets the end together with the buffer. */
function close(controller: Controller): void {
  controller.close();
  if ('byobRequest' in controller) controller.byobRequest?.respond(0);
}

import type { Clock, Timer } from '../util/clock.ts';
import { LONGEST_JSON } from './error-chain.ts';
import { discard, read } from './shape.ts';

/** How long a body is waited for. */
const BODY_TIMEOUT_MS = 2_000;

/** Content types of texts that end, and none at all. An event stream may never end. */
const TEXTUAL = /^(?:$|text\/(?!event-stream)|application\/(?:[\w.+-]{0,80}\+)?json\b)/i;

/** A copy of a response's body; the caller can still read the body itself. */
function copyOf(response: unknown): ReadableStream<Uint8Array> | undefined {
  const headers = read(response, 'headers');
  const get = read(headers, 'get');
  const clone = read(response, 'clone');
  if (typeof get !== 'function' || typeof clone !== 'function') return undefined;
  // A copy of any other stream would block the original while the copy is not read.
  if (!isWebStream(read(response, 'body'))) return undefined;
  try {
    if (!TEXTUAL.test(String(get.call(headers, 'content-type') ?? ''))) return undefined;
    // `clone` throws if the body was read or is locked.
    const body = read(clone.call(response), 'body');
    const original = read(response, 'body');
    if (!isWebStream(body) || !isWebStream(original)) return undefined;
    cancelQuietly(original);
    return body;
  } catch {
    return undefined;
  }
}

function isWebStream(value: unknown): value is ReadableStream<Uint8Array> {
  return value instanceof ReadableStream;
}

/**
 * Keeps an abort of Node's `fetch` from ending the process. An abort cancels the body if it is not
 * being read. If its copy was cancelled before, that fails with a rejection that no code can handle
 * (Node 20 to 24.0).
 */
function cancelQuietly(body: ReadableStream): void {
  const cancel = body.cancel.bind(body);
  body.cancel = (reason) => (body.locked ? cancel(reason) : cancel(reason).catch(() => undefined));
}

async function textOf(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > LONGEST_JSON) return undefined;
    text += decoder.decode(value, { stream: true });
  }
}

/**
 * The body of a response that is not ok, while a copy of it is read: at most 64 KiB and for at most
 * two seconds. Then the copy is cancelled: an unread copy would keep in memory everything that is
 * read of the original, and cancelling the original would never end. Later notifications of the
 * attempt wait meanwhile.
 */
export class PendingBody {
  readonly #response: unknown;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #judge: (body?: string) => boolean;
  readonly #timer: Timer;
  readonly #waiting: (() => void)[] = [];
  #isOver = false;

  private constructor(
    response: unknown,
    copy: ReadableStream<Uint8Array>,
    clock: Clock,
    judge: (body?: string) => boolean,
  ) {
    this.#response = response;
    this.#reader = copy.getReader();
    this.#judge = judge;
    this.#timer = clock.setTimer(() => this.#end(), BODY_TIMEOUT_MS);
    textOf(this.#reader).then(
      (text) => this.#end(text),
      () => this.#end(),
    );
  }

  /**
   * @param judge gets the body, or undefined if it did not arrive whole; never called before this
   *   returns. Returns whether the delayed notifications are still wanted
   * @returns undefined if there is no text to read; then `judge` is not called
   */
  static read(
    response: unknown,
    clock: Clock,
    judge: (body?: string) => boolean,
  ): PendingBody | undefined {
    const copy = copyOf(response);
    return copy && new PendingBody(response, copy, clock, judge);
  }

  /** @param tell called after the body was read */
  later(tell: () => void): true {
    this.#waiting.push(tell);
    return true;
  }

  /** Discards the response, unread. */
  stop(): void {
    this.#close();
    this.#drop();
    discard(this.#response);
  }

  #end(text?: string): void {
    if (this.#isOver) return;
    this.#close();
    if (text === undefined) this.#drop();
    if (!this.#judge(text)) return;
    for (const tell of this.#waiting) tell();
  }

  #close(): void {
    this.#isOver = true;
    this.#timer.cancel();
  }

  #drop(): void {
    this.#reader.cancel().catch(() => undefined);
  }
}

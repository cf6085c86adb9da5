import type { Clock, Timer } from '../model/clock.ts';
import { LONGEST_JSON } from './layers.ts';
import { discard, isShape, read, rememberCopy } from './shape.ts';

/** A body that has not come by then is not waited for. */
const BODY_TIMEOUT_MS = 2_000;

/** Texts that end: an event stream may never. */
const TEXTUAL = /^(?:text\/(?!event-stream)|application\/(?:[\w.+-]{0,80}\+)?json\b)/i;

/** A copy of a response's body, which leaves the body itself to whoever reads the response. */
function copyOf(response: unknown): ReadableStream<Uint8Array> | undefined {
  const headers = read(response, 'headers');
  const get = read(headers, 'get');
  const clone = read(response, 'clone');
  if (typeof get !== 'function' || typeof clone !== 'function') return undefined;
  // Of another stream the copy would hold up what it is a copy of, as long as nobody reads it.
  if (!(read(response, 'body') instanceof ReadableStream)) return undefined;
  try {
    if (!TEXTUAL.test(String(get.call(headers, 'content-type') ?? ''))) return undefined;
    // One that is read or locked already throws.
    const body = read(clone.call(response), 'body');
    return body instanceof ReadableStream ? body : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads a copy of the body of a `Response`, as far as 64 KiB and for two seconds at the most.
 *
 * The copy is never cancelled alone: if a request of Node's `fetch` is aborted after that, the other
 * half fails with a rejection that nobody can handle, and the process ends.
 *
 * @param done is told the text, or undefined where it did not come whole; never before this returns
 * @returns discards the response, after which nothing is told; undefined: there is no text to read
 */
export function readBody(
  response: unknown,
  clock: Clock,
  done: (body: string | undefined) => void,
): (() => void) | undefined {
  const body = copyOf(response);
  if (body === undefined || !isShape(response)) return undefined;
  const reader = body.getReader();
  rememberCopy(response, reader);
  let isOver = false;
  let timer: Timer | undefined;
  const end = (text?: string) => {
    if (isOver) return;
    isOver = true;
    timer?.cancel();
    done(text);
  };
  timer = clock.setTimer(() => end(), BODY_TIMEOUT_MS);
  textOf(reader).then(end, () => end());
  return () => {
    isOver = true;
    timer?.cancel();
    discard(response);
  };
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

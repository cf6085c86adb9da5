import { isLiveStream, read } from '../providers/shape.ts';
import { warn } from '../util/warn.ts';

let warned = false;

/**
 * Warns, once, of a task whose value is a stream that nobody has read: for headgate the request has
 * ended, so it gives its slot back while the answer still comes, and its tokens stay unknown.
 */
export function warnOfStream(value: unknown): void {
  if (warned || !isUnread(value)) return;
  warned = true;
  warn(
    'headgate: a task has returned a stream, so its slot is free before the stream has been read, and the signal no longer reaches it. Read the stream inside the task, or give `throttle` an async generator',
  );
}

/** Whether a value is a stream, or an answer of the AI SDK that holds one. */
export function isUnread(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return typeof read(value, Symbol.asyncIterator) === 'function' || isLiveStream(value);
}

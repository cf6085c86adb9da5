import { isLiveStream, read } from '../providers/shape.ts';
import { warn } from '../util/warn.ts';

let warned = false;

/**
 * Warns, once, of a task whose value is a stream that nobody has read: for headgate the request has
 * ended, so it gives its slot back while the answer still comes, and its tokens stay unknown.
 */
export function warnOfStream(value: unknown): void {
  if (warned || typeof value !== 'object' || value === null) return;
  if (typeof read(value, Symbol.asyncIterator) !== 'function' && !isLiveStream(value)) return;
  warned = true;
  warn(
    'headgate: a task has returned a stream, so its slot is free before the stream has been read, and the signal no longer reaches it. Read the stream inside the task, or give `throttle` an async generator',
  );
}

import { isUtf8 } from 'node:buffer';
import { LineError } from './lines.ts';

const NEWLINE = 10;

/**
 * Passes on bytes that are UTF-8.
 * @throws LineError for the first line that is not
 */
export async function* checkedUtf8(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let carried: Uint8Array = new Uint8Array();
  let line = 1;
  for await (const chunk of chunks) {
    const bytes = carried.length === 0 ? chunk : Buffer.concat([carried, chunk]);
    const whole = bytes.subarray(0, bytes.length - unfinished(bytes));
    if (!isUtf8(whole)) throw notUtf8(line, whole);
    line += newlinesIn(whole);
    carried = bytes.subarray(whole.length);
    yield whole;
  }
  if (carried.length > 0) throw notUtf8(line, carried);
}

/** The number of bytes at the end that are the beginning of an incomplete character. */
function unfinished(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0x80 && byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

function newlinesIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}

/** @param line on which the bytes begin */
function notUtf8(line: number, bytes: Uint8Array): LineError {
  let from = 0;
  let number = line;
  for (let to = bytes.indexOf(NEWLINE); to !== -1; to = bytes.indexOf(NEWLINE, from)) {
    if (!isUtf8(bytes.subarray(from, to))) break;
    from = to + 1;
    number += 1;
  }
  return new LineError(number, 'not UTF-8 text: save the table as UTF-8');
}

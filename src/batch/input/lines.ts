import { isUtf8 } from 'node:buffer';

/** No API takes a longer request. A binary file may be a single line. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const NEWLINE = 10;
const BOM = '\uFEFF';

export interface Line {
  readonly text: string;
  /** From 1. */
  readonly number: number;
  /** Bytes of the file up to here, the line and its end included. */
  readonly end: number;
  /** Whether a newline ends it: the last line of a file may have none. */
  readonly isWhole: boolean;
}

/** A line that cannot be read as text. */
export class LineError extends Error {
  readonly line: number;
  /** Whether a newline ends the line; a last line without one may have been cut off. */
  readonly isWhole: boolean;

  constructor(line: number, message: string, isWhole = true) {
    super(message);
    this.line = line;
    this.isWhole = isWhole;
  }
}

/**
 * Splits bytes into lines of text. Only one line and the chunk read last are in memory.
 * @throws LineError for a line that is not UTF-8, or longer than 64 MiB
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let parts: Uint8Array[] = [];
  let partsBytes = 0;
  let number = 1;
  let end = 0;
  const take = (last: Uint8Array, isWhole: boolean): string => {
    const bytes = parts.length === 0 ? asBuffer(last) : Buffer.concat([...parts, last]);
    parts = [];
    partsBytes = 0;
    if (!isUtf8(bytes)) {
      throw new LineError(number, 'not UTF-8 text: is this a binary file?', isWhole);
    }
    const text = bytes.toString('utf8');
    const unmarked = number === 1 && text.startsWith(BOM) ? text.slice(1) : text;
    return unmarked.endsWith('\r') ? unmarked.slice(0, -1) : unmarked;
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to !== -1; to = chunk.indexOf(NEWLINE, from)) {
      end += to + 1 - from + partsBytes;
      yield { text: take(chunk.subarray(from, to), true), number, end, isWhole: true };
      number += 1;
      from = to + 1;
    }
    if (from === chunk.length) continue;
    parts.push(from === 0 ? chunk : chunk.subarray(from));
    partsBytes += chunk.length - from;
    if (partsBytes > MAX_LINE_BYTES) {
      throw new LineError(number, 'longer than 64 MiB without an end: is this a binary file?');
    }
  }
  if (partsBytes > 0) {
    end += partsBytes;
    yield { text: take(new Uint8Array(), false), number, end, isWhole: false };
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

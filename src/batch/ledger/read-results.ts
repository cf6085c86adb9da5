import { createReadStream } from 'node:fs';
import { LineError, readLines } from '../input/lines.ts';
import { type ReadResult, readResultLine } from './result-line.ts';

/** A line of the output that is none of results. */
export class NoResultLineError extends Error {
  readonly line: number;

  constructor(line: number, problem: string) {
    super(problem);
    this.line = line;
  }
}

/** A line of results, and where the next one begins. */
export interface PlacedResult {
  readonly result: ReadResult;
  readonly number: number;
  readonly end: number;
  /** Whether its newline is missing: the line itself is whole. */
  readonly needsNewline: boolean;
}

/**
 * Reads the lines of an output. What a crash has left of the last line is passed over: only a line
 * without its newline may be that.
 * @throws NoResultLineError
 */
export async function* readResults(file: string): AsyncGenerator<PlacedResult> {
  try {
    for await (const { text, number, end, isWhole } of readLines(createReadStream(file))) {
      if (isWhole && text.trim() === '') continue;
      const result = readResultLine(text);
      if (result !== undefined) yield { result, number, end, needsNewline: !isWhole };
      else if (isWhole) throw new NoResultLineError(number, 'this is no line of results');
    }
  } catch (error) {
    if (!(error instanceof LineError)) throw error;
    throw new NoResultLineError(error.line, error.message);
  }
}

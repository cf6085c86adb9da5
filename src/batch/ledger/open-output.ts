import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { BatchError, fileProblem } from '../errors.ts';
import { countAt, type JsonObject } from '../json.ts';
import type { Spent } from '../money.ts';
import { Ledger } from './ledger.ts';
import { NoResultLineError, RESULT_ID_PREFIX, readResults } from './result-line.ts';

/** How each line of results begins. */
const RESULT_START = `{"id":"${RESULT_ID_PREFIX}`;

/**
 * What to do with an output that exists: go on where it ends (`resume`, where at least one of its ids
 * is in the input), go on in any case (`append`), or replace it (`overwrite`).
 */
export type ExistingOutput = 'resume' | 'append' | 'overwrite';

/** What an output holds before anything is sent. */
export interface InspectedOutput {
  readonly ledger: Ledger;
  /** Bytes of whole lines. */
  readonly length: number;
  /** Whether the last of them has no newline yet. */
  readonly needsNewline: boolean;
  /** Bytes after them, which a crash has left of a line. */
  readonly tornBytes: number;
  /** What all results have cost, as far as their lines say. */
  readonly spent: Spent;
}

/**
 * Reads what an output holds.
 * @param others files that are read: an output must be none of them, through links neither
 * @throws BatchError for what must not be written to
 */
export async function inspectOutput(
  path: string,
  existing: ExistingOutput,
  others: readonly string[],
): Promise<InspectedOutput> {
  const ledger = new Ledger();
  if (path === '') throw new BatchError('the output must be the name of a file, got ""');
  refuseSameFile(path, others);
  const bytes = sizeOf(path);
  if (bytes === 0 || existing === 'overwrite') {
    return { ledger, length: 0, needsNewline: false, tornBytes: 0, spent: NOTHING };
  }
  let length = 0;
  let needsNewline = false;
  let spent = NOTHING;
  try {
    for await (const placed of readResults(path)) {
      const { id, hash, isOk } = placed.result;
      ledger.addResult(id, hash, isOk);
      length = placed.end;
      spent = withLine(spent, placed.result.line);
      needsNewline = placed.needsNewline;
    }
  } catch (error) {
    if (!(error instanceof NoResultLineError)) {
      throw new BatchError(`cannot read ${path}: ${fileProblem(error)}`, { cause: error });
    }
    throw new BatchError(
      `${path}:${error.line}: ${error.message}. The file is left as it is: give another --out, or ` +
        '--overwrite to replace it',
    );
  }
  if (length === 0 && !startsAsResult(path)) {
    throw new BatchError(
      `${path} holds no results. It is left as it is: give another --out, or --overwrite to replace it`,
    );
  }
  return { ledger, length, needsNewline, tornBytes: bytes - length, spent };
}

const NOTHING: Spent = { cost: 0, answers: 0, outputTokens: 0 };

function withLine({ cost, answers, outputTokens }: Spent, line: JsonObject): Spent {
  const paid = countAt(line, 'headgate', 'cost');
  if (paid === undefined) return { cost, answers, outputTokens };
  const output = countAt(line, 'headgate', 'usage', 'output_tokens');
  return {
    cost: cost + paid,
    answers: answers + (output === undefined ? 0 : 1),
    outputTokens: outputTokens + (output ?? 0),
  };
}

/** Bytes of a file; 0: there is none, or it is empty. */
function sizeOf(path: string): number {
  if (!existsSync(path)) return 0;
  const stat = statSync(path);
  if (stat.isDirectory()) {
    throw new BatchError(`cannot write ${path}: this is a directory; name a file in it`);
  }
  if (!stat.isFile()) {
    throw new BatchError(
      `cannot write ${path}: results are read again to resume, so it must be a file`,
    );
  }
  // A lock beside one name does not keep out a run that uses another name.
  if (stat.nlink > 1) {
    throw new BatchError(
      `${path} has ${stat.nlink} names (hard links), and all of them would be written: give another ` +
        '--out, or a copy of it',
    );
  }
  return stat.size;
}

/** Whether all there is may be what a crash has left of the first line. */
function startsAsResult(path: string): boolean {
  const start = Buffer.alloc(RESULT_START.length);
  const fd = openSync(path, 'r');
  try {
    const bytes = readSync(fd, start, 0, start.length, 0);
    return RESULT_START.startsWith(start.toString('latin1', 0, bytes));
  } finally {
    closeSync(fd);
  }
}

function refuseSameFile(path: string, others: readonly string[]): void {
  const own = identityOf(path);
  if (own === undefined) return;
  const same = others.find((other) => identityOf(other) === own);
  if (same === undefined) return;
  throw new BatchError(
    `${path} is ${same === path ? 'an input' : `the same file as ${same}, which is read`}: give another --out`,
  );
}

function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

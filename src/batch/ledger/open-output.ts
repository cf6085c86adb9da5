import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { BatchError, fileProblem } from '../errors.ts';
import { countAt, type JsonObject } from '../json.ts';
import type { Spent } from '../money.ts';
import { Ledger } from './ledger.ts';
import { NoResultLineError, RESULT_ID_PREFIX, readResults } from './result-line.ts';

/** The beginning of each line of results. */
const RESULT_START = `{"id":"${RESULT_ID_PREFIX}`;

/**
 * What to do with an output that exists: continue it if at least one of its ids is in the input
 * (`resume`), continue it in any case (`append`), or replace it (`overwrite`).
 */
export type ExistingOutput = 'resume' | 'append' | 'overwrite';

/** The content of an output before any request is sent. */
export interface InspectedOutput {
  readonly ledger: Ledger;
  /** Bytes of whole lines. */
  readonly length: number;
  /** Whether the last whole line has no newline yet. */
  readonly needsNewline: boolean;
  /** Bytes after the whole lines: an incomplete line, left by a crash. */
  readonly tornBytes: number;
  /** The cost of all results, as far as their lines have one. */
  readonly spent: Spent;
}

/**
 * Reads the content of an output.
 * @param others files that the run reads: the output must not be one of them, nor a link to one
 * @throws BatchError for a file that must not be changed
 */
export async function inspectOutput(
  path: string,
  existing: ExistingOutput,
  others: readonly string[],
): Promise<InspectedOutput> {
  const ledger = new Ledger();
  if (path === '') throw new BatchError('the output must be the name of a file, got ""');
  refuseSameFile(path, others);
  checkOutputKind(path);
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
    const advice =
      length === 0
        ? 'give another --out, or --overwrite to replace it'
        : 'remove this line to keep the results of the others, or give another --out';
    throw new BatchError(
      `${path}:${error.line}: ${error.message}. The file is left as it is: ${advice}`,
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

/**
 * Refuses an output that can be no file, before the lock is made beside it: the real name of a pipe
 * such as `/dev/stdout` lies in no folder.
 * @throws BatchError
 */
export function checkOutputKind(path: string): void {
  if (!existsSync(path)) return;
  const stat = statSync(path);
  if (stat.isFile()) return;
  throw new BatchError(
    stat.isDirectory()
      ? `cannot write ${path}: this is a directory; name a file in it`
      : `cannot write ${path}: results are read again to resume, so it must be a file`,
  );
}

/** Bytes of a file; 0: it does not exist, or is empty. */
function sizeOf(path: string): number {
  if (!existsSync(path)) return 0;
  const stat = statSync(path);
  // The lock is beside one name of the file: a run that uses another name would not see it.
  if (stat.nlink > 1) {
    throw new BatchError(
      `${path} has ${stat.nlink} names (hard links), and all of them would be written: give another ` +
        '--out, or a copy of it',
    );
  }
  return stat.size;
}

/** Whether the file may be a first line that a crash has left incomplete. */
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

import type { AnswerCache } from './cache/answer-cache.ts';
import { CacheError, readCache } from './cache/read-cache.ts';
import { BatchError, InputError, messageOf } from './errors.ts';
import { type InputOptions, readInput } from './input/read-input.ts';
import type { Source } from './input/sources.ts';
import type { Ledger, LineState } from './ledger/ledger.ts';
import type { ResultFile } from './ledger/result-file.ts';
import type { ChangedLines } from './options.ts';
import type { Stop } from './progress.ts';
import type { BatchRequest, BatchResponse } from './request.ts';
import type { Tally } from './tally.ts';

/** The most problems, or places, in one error. */
const MOST_TOLD = 10;

/**
 * Reads all lines before the first is sent, so that a wrong line is found before anything is paid.
 *
 * @param onLine called for each good line
 * @returns the number of good lines
 * @throws BatchError that names the lines that are wrong, or that have changed
 */
export async function checkInput(
  sources: readonly Source[],
  options: InputOptions,
  ledger: Ledger,
  changed: ChangedLines,
  onLine: (request: BatchRequest, state: LineState) => void,
): Promise<number> {
  const problems: string[] = [];
  const changes: string[] = [];
  let changedLines = 0;
  let lines = 0;
  for await (const read of readInput(sources, options)) {
    if (read instanceof InputError) {
      problems.push(read.message);
    } else {
      const line = { ...read, id: ledger.idOf(read, false) };
      lines += 1;
      const state = ledger.list(line.id, line.hash, changed === 'keep');
      if (state === undefined) problems.push(await duplicateProblem(line, sources, options));
      else onLine(line, state);
      if (state === 'changed') {
        changedLines += 1;
        if (changes.length < MOST_TOLD) changes.push(line.place);
      }
    }
    if (problems.length === MOST_TOLD) break;
  }
  if (problems.length > 0) throw new BatchError(problemWords(problems));
  if (changedLines > 0 && changed === 'fail') {
    throw new BatchError(changedWords(changes, changedLines));
  }
  if (lines === 0) throw noRequests(sources);
  return lines;
}

export function noRequests(sources: readonly Source[]): BatchError {
  const names = sources.map(({ name }) => name).join(', ');
  return new BatchError(`${names}: there are no requests in the input`);
}

function problemWords(problems: readonly string[]): string {
  const [first = ''] = problems;
  if (problems.length === 1)
    return `${first}\nNothing was sent: mend the line and run the same command`;
  const count = problems.length === MOST_TOLD ? `at least ${MOST_TOLD}` : problems.length;
  return [`${count} lines cannot be sent, and nothing was sent:`, ...problems].join('\n  ');
}

function changedWords(places: readonly string[], count: number): string {
  const more = count > places.length ? ` and ${count - places.length} more` : '';
  return (
    `${count} ${count === 1 ? 'line has changed since it was' : 'lines have changed since they were'} answered: ` +
    `${places.join(', ')}${more}.\nNothing was sent: say --changed rerun to send them again, or ` +
    '--changed keep to keep their results'
  );
}

/** Reads the input again to name the first line with the id: places are not kept in memory. */
async function duplicateProblem(
  { id, place }: BatchRequest,
  sources: readonly Source[],
  options: InputOptions,
): Promise<string> {
  const problem = `the id ${JSON.stringify(id)} was used before`;
  const isRepeatable = sources.every(({ path }) => path !== undefined);
  if (isRepeatable) {
    for await (const line of readInput(sources, options)) {
      if (line instanceof InputError || line.id !== id) continue;
      return `${place}: ${problem}, in ${line.place}: each id must be there once`;
    }
  }
  return `${place}: ${problem}: each id must be there once`;
}

/** While more results than this wait to be written, no further request is read. */
const MOST_UNWRITTEN = 1_000;

export interface PendingSurroundings {
  readonly sources: readonly Source[];
  readonly input: InputOptions;
  readonly ledger: Ledger;
  /** Whether `checkInput` has read all lines. */
  readonly isChecked: boolean;
  readonly changed: ChangedLines;
  readonly retryFailed: boolean;
  /** Whether results of other inputs may be in the output. */
  readonly mayAppend: boolean;
  readonly file: ResultFile;
  readonly tally: Tally;
  readonly cache: AnswerCache | undefined;
  /** A line was answered from the cache. */
  readonly onCached: (request: BatchRequest, response: BatchResponse) => void;
  readonly isStopped: () => boolean;
  /** The end of the input. Requests that were read before it are still sent. */
  readonly onInputError: (stop: Stop) => void;
}

/** Reads, on demand, the requests that have to be sent. A line that is wrong ends the run. */
export async function* pendingRequests(around: PendingSurroundings): AsyncGenerator<BatchRequest> {
  const { sources, input, ledger, isChecked, file, isStopped } = around;
  try {
    for await (const read of readInput(sources, input)) {
      if (isStopped()) return;
      if (read instanceof InputError) throw read;
      const line = { ...read, id: ledger.idOf(read, isChecked) };
      if ((await isPending(line, around)) && !isCached(line, around)) yield line;
      if (isStopped()) return;
      // Answers that come faster than the disk takes them must not fill the memory.
      if (file.unwritten > MOST_UNWRITTEN) await file.flush();
    }
  } catch (error) {
    around.onInputError(stopOf(error));
  }
}

function stopOf(error: unknown): Stop {
  const message = messageOf(error);
  if (error instanceof CacheError) return { reason: 'output', message };
  const kept = 'The lines before it were sent, and their results are kept';
  return { reason: 'input', message: `${message}\n${kept}` };
}

/** Answers a line from the cache if it can. @returns whether it could @throws CacheError */
function isCached(line: BatchRequest, { cache, onCached }: PendingSurroundings): boolean {
  const response = cache && readCache(cache, line);
  if (response === undefined) return false;
  onCached(line, response);
  return true;
}

/** @throws BatchError */
async function isPending(line: BatchRequest, around: PendingSurroundings): Promise<boolean> {
  const { ledger, isChecked, retryFailed, tally } = around;
  if (!isChecked) await listLine(line, around);
  const state = ledger.take(line.id, line.hash);
  if (state === undefined) {
    throw new InputError(line.place, 'the line has changed since the run began: run it again');
  }
  if (state === 'done') {
    tally.doneBefore += 1;
    return false;
  }
  if (state === 'failed' && !retryFailed) {
    tally.failedBefore += 1;
    return false;
  }
  return true;
}

/** Does the checks of `checkInput` for one line, of an input that can be read only once. */
async function listLine(line: BatchRequest, around: PendingSurroundings): Promise<void> {
  const { ledger, changed, sources, input, mayAppend, file } = around;
  const hadResults = ledger.results > 0;
  const state = ledger.list(line.id, line.hash, changed === 'keep');
  if (state === undefined) throw new BatchError(await duplicateProblem(line, sources, input));
  if (state === 'changed' && changed === 'fail') {
    throw new InputError(
      line.place,
      'the line has changed since it was answered: say --changed rerun to send it again, or ' +
        '--changed keep to keep its result',
    );
  }
  if (ledger.listed === 1 && ledger.shared === 0 && hadResults && !mayAppend) {
    throw new BatchError(
      `${file.path} has no result of the first line: it may be of another input. ` +
        'Give another --out, or say --append',
    );
  }
}

import { BatchError, InputError } from './errors.ts';
import { type InputOptions, readInput } from './input/read-input.ts';
import type { Source } from './input/sources.ts';
import type { Ledger, LineState } from './ledger/ledger.ts';
import type { ChangedLines } from './options.ts';
import type { BatchRequest } from './request.ts';

/** Problems that are told at once. */
const MOST_TOLD = 10;

/**
 * Reads all lines before the first is sent: what is wrong with the last one is known before
 * anything is paid.
 *
 * @param onLine called for each good line
 * @returns how many there are
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
  for await (const line of readInput(sources, options)) {
    if (line instanceof InputError) {
      problems.push(line.message);
    } else {
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
  if (lines === 0) {
    const names = sources.map(({ name }) => name).join(', ');
    throw new BatchError(`${names}: there are no requests in the input`);
  }
  return lines;
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
    `${count} ${count === 1 ? 'line has' : 'lines have'} changed since they were answered: ` +
    `${places.join(', ')}${more}.\nNothing was sent: say --changed rerun to send them again, or ` +
    '--changed keep to keep their results'
  );
}

/** Looks for the first line with the id, which is not kept in memory. */
export async function duplicateProblem(
  { id, place }: BatchRequest,
  sources: readonly Source[],
  options: InputOptions,
): Promise<string> {
  const problem = `"custom_id" ${JSON.stringify(id)} was used before`;
  const isRepeatable = sources.every(({ path }) => path !== undefined);
  if (isRepeatable) {
    for await (const line of readInput(sources, options)) {
      if (line instanceof InputError || line.id !== id) continue;
      return `${place}: ${problem}, in ${line.place}: each id must be there once`;
    }
  }
  return `${place}: ${problem}: each id must be there once`;
}

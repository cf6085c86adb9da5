import { once } from 'node:events';
import { statSync } from 'node:fs';
import { answerText } from '../endpoint.ts';
import { BatchError, fileProblem } from '../errors.ts';
import { at, countAt, textAt } from '../json.ts';
import { IdTable } from '../ledger/id-table.ts';
import {
  NoResultLineError,
  type PlacedResult,
  type ReadResult,
  readResults,
} from '../ledger/result-line.ts';
import { printable } from '../printable.ts';
import { count, money, percent, short } from '../screen/text.ts';
import { Tally } from '../tally.ts';
import type { ExportFormat } from './option-table.ts';

/**
 * The last result of each id, in the order of the file: a request that was sent again has several.
 * The file is read twice, so that no results are kept in memory.
 * @param onEach called for each result during the first reading, replaced results included
 * @throws BatchError
 */
async function* latestResults(
  file: string,
  onEach: (result: ReadResult) => void = () => {},
): AsyncGenerator<PlacedResult> {
  try {
    if (statSync(file).isDirectory())
      throw new BatchError(`${file}: this is a directory, not a file`);
    const last = new IdTable();
    for await (const { result, number } of readResults(file)) {
      last.set(result.id, number);
      onEach(result);
    }
    for await (const placed of readResults(file)) {
      if (last.get(placed.result.id) === placed.number) yield placed;
    }
  } catch (error) {
    if (error instanceof BatchError) throw error;
    const place = error instanceof NoResultLineError ? `${file}:${error.line}` : file;
    throw new BatchError(`${place}: ${fileProblem(error)}`, { cause: error });
  }
}

const CSV_HEAD = 'id,text,error,input_tokens,output_tokens,cost\n';

/** `headgate export`: writes the answers to standard output. @returns the exit code */
export async function exportResults(file: string, format: ExportFormat): Promise<number> {
  if (format === 'csv') process.stdout.write(CSV_HEAD);
  for await (const { result } of latestResults(file)) {
    const text = lineOf(result, format);
    if (text === undefined) continue;
    const shown = process.stdout.isTTY ? printable(text) : text;
    if (!process.stdout.write(shown)) await once(process.stdout, 'drain');
  }
  return 0;
}

function lineOf({ id, isOk, line }: ReadResult, format: ExportFormat): string | undefined {
  const answer = isOk ? (answerText(at(line, 'response', 'body')) ?? '') : null;
  const error = at(line, 'error', 'message') ?? null;
  const usage = at(line, 'headgate', 'usage');
  const input = countAt(usage, 'input_tokens') ?? null;
  const output = countAt(usage, 'output_tokens') ?? null;
  const cost = countAt(line, 'headgate', 'cost') ?? null;
  switch (format) {
    case 'text':
      // Each answer is one line, so its line breaks are escaped.
      return answer === null
        ? undefined
        : `${answer.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}\n`;
    case 'csv':
      return `${[id, answer, error, input, output, cost].map(csvCell).join(',')}\n`;
    case 'jsonl-flat': {
      const metadata = at(line, 'metadata');
      const flat = {
        id,
        text: answer,
        error,
        input_tokens: input,
        output_tokens: output,
        cost,
        metadata,
      };
      return `${JSON.stringify(flat)}\n`;
    }
  }
}

function csvCell(value: unknown): string {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const ERRORS_SHOWN = 10;

/** The cost, and how many good results it leaves out. */
function costText(cost: number, withoutCost: number): string {
  if (withoutCost === 0) return money(cost);
  const results = withoutCost === 1 ? 'result that has' : 'results that have';
  return `${money(cost)}, without ${count(withoutCost)} good ${results} no price or no usage`;
}

/** `headgate summary`: prints the counts and costs of a file of results. @returns the exit code */
export async function summary(file: string, isJson: boolean): Promise<number> {
  const tally = new Tally();
  const tokens = { in: 0, cached: 0, out: 0 };
  let [ok, failed, attempts, durationMs, cost, withoutCost] = [0, 0, 0, 0, 0, 0];
  // As in the report of a run: a request that was sent twice was paid twice.
  const addSpent = ({ line, isOk }: ReadResult) => {
    attempts += countAt(line, 'headgate', 'attempts') ?? 0;
    const spent = countAt(line, 'headgate', 'cost');
    cost += spent ?? 0;
    if (isOk && spent === undefined) withoutCost += 1;
    tokens.in += countAt(line, 'headgate', 'usage', 'input_tokens') ?? 0;
    tokens.cached += countAt(line, 'headgate', 'usage', 'cached_input_tokens') ?? 0;
    tokens.out += countAt(line, 'headgate', 'usage', 'output_tokens') ?? 0;
  };
  for await (const { result } of latestResults(file, addSpent)) {
    const { line, isOk } = result;
    if (isOk) ok += 1;
    else {
      failed += 1;
      tally.addError(
        printable(textAt(line, 'error', 'code') ?? 'error'),
        printable(textAt(line, 'error', 'message') ?? ''),
      );
    }
    durationMs += countAt(line, 'headgate', 'duration_ms') ?? 0;
  }
  const total = ok + failed;
  if (total === 0) throw new BatchError(`${file} holds no results`);
  const { errors } = tally;
  if (isJson) {
    process.stdout.write(
      `${JSON.stringify({ file, ok, failed, attempts, tokens, cost, withoutCost, errors })}\n`,
    );
    return 0;
  }
  const rows = [
    ['results', `${count(total)} in ${file}`],
    ['good', `${count(ok)} (${percent(ok, total)})`],
    [
      'failed',
      failed === 0 ? '0' : `${count(failed)}; headgate run --retry-failed sends them again`,
    ],
    ...errors.slice(0, ERRORS_SHOWN).map(({ kind, count: times, message }) => {
      return ['', `${count(times).padStart(6)}  ${kind}: ${message}`];
    }),
    [
      'calls',
      `${count(attempts)}, ${(durationMs / total / 1_000).toFixed(2)} s for a request on average`,
    ],
    ['tokens', `${short(tokens.in)} in (${short(tokens.cached)} cached), ${short(tokens.out)} out`],
    ...(cost > 0 ? [['cost', costText(cost, withoutCost)]] : []),
  ];
  process.stdout.write(rows.map(([label = '', value]) => `${label.padEnd(10)}${value}\n`).join(''));
  return 0;
}

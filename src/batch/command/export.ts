import { once } from 'node:events';
import { answerText } from '../endpoint.ts';
import { at, countAt } from '../json.ts';
import type { ReadResult } from '../ledger/result-line.ts';
import type { ExportFormat } from './export-formats.ts';
import { latestResults } from './latest-results.ts';

const CSV_HEAD = 'id,text,error,input_tokens,output_tokens,cost\n';

/** `headgate export`: the answers alone, to standard output. @returns the exit code */
export async function exportResults(file: string, format: ExportFormat): Promise<number> {
  if (format === 'csv') process.stdout.write(CSV_HEAD);
  for await (const { result } of latestResults(file)) {
    const text = lineOf(result, format);
    if (text !== undefined && !process.stdout.write(text)) await once(process.stdout, 'drain');
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
      // One answer a line, so that line breaks in it are escaped.
      return answer === null
        ? undefined
        : `${answer.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n`;
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

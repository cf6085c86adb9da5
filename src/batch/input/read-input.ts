import { BatchError, fileProblem, InputError, messageOf } from '../errors.ts';
import type { BatchRequest } from '../request.ts';
import { LineError, readLines } from './lines.ts';
import { type LineDefaults, parseJsonLine, promptRequest } from './parse-line.ts';
import type { Source } from './sources.ts';
import { hasColumn, readTable } from './table.ts';

/** The message for an error while a source was read. */
function readProblem(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  if (code === 'Z_BUF_ERROR') {
    return 'the gzip data ends early: the file was cut off. Make it anew; results so far are kept';
  }
  if (typeof code === 'string' && code.startsWith('Z_')) {
    const detail = messageOf(error);
    return detail === 'incorrect header check'
      ? 'this is no gzip data, or something else follows it, though the name ends in .gz'
      : `the gzip data is damaged (${detail}): make it anew; results so far are kept`;
  }
  return fileProblem(error);
}

export const INPUT_FORMATS = ['jsonl', 'text', 'csv', 'tsv'] as const;
export type InputFormat = (typeof INPUT_FORMATS)[number];

/** How lines become requests. */
export interface InputOptions extends LineDefaults {
  /** Default: by the name of the file, `.csv` and `.tsv`; else `jsonl`. */
  readonly format: InputFormat | undefined;
  /** Of CSV and TSV: the prompt, with `{{column}}` in it. */
  readonly template: string | undefined;
  /** Lines to read at the most. Default: all. */
  readonly limit?: number | undefined;
}

/** A request, or the error of a line that cannot be sent. More lines may follow an error. */
export type InputLine = BatchRequest | InputError;

/**
 * Reads the requests of all sources, one after the other; empty lines are left out.
 * @throws InputError if the rest of a source cannot be read
 */
export async function* readInput(
  sources: readonly Source[],
  options: InputOptions,
): AsyncGenerator<InputLine> {
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  for await (const line of readAll(sources, options)) {
    yield line;
    left -= 1;
    if (left <= 0) return;
  }
}

async function* readAll(
  sources: readonly Source[],
  options: InputOptions,
): AsyncGenerator<InputLine> {
  for (const source of sources) {
    const idOf = (line: number) =>
      sources.length === 1 ? `line-${line}` : `${source.name}:${line}`;
    const progress = { line: 0 };
    try {
      yield* readSource(source, options, idOf, progress);
    } catch (error) {
      if (error instanceof InputError) throw error;
      const line = error instanceof LineError ? error.line : progress.line + 1;
      const problem = error instanceof LineError ? error.message : readProblem(error);
      throw new InputError(`${source.name}:${line}`, problem, error);
    }
  }
}

async function* readSource(
  source: Source,
  options: InputOptions,
  idOf: (line: number) => string,
  progress: { line: number },
): AsyncGenerator<InputLine> {
  const format = options.format ?? formatOf(source.name);
  if (format === 'csv' || format === 'tsv') {
    const delimiter = format === 'csv' ? ',' : '\t';
    const { name } = source;
    yield* readTable(source.open(), delimiter, name, options.template, idOf, options);
    return;
  }
  for await (const { text, number } of readLines(source.open())) {
    progress.line = number;
    if (text.trim() === '') continue;
    const place = `${source.name}:${number}`;
    try {
      yield format === 'text'
        ? promptRequest(text, {}, place, idOf(number), options)
        : parseJsonLine(text, place, idOf(number), options);
    } catch (error) {
      yield error instanceof InputError ? error : new InputError(place, messageOf(error), error);
    }
  }
}

/** @throws BatchError for a template if no source is a table, and for one without a column */
export function checkTemplate(
  sources: readonly Source[],
  { format, template }: Partial<InputOptions>,
): void {
  if (template === undefined) return;
  const formats = sources.map(({ name }) => format ?? formatOf(name));
  if (!formats.some((each) => each === 'csv' || each === 'tsv')) {
    const names = sources.map(({ name }) => name).join(', ');
    const what = format === 'text' ? 'lines of text' : 'JSON lines';
    throw new BatchError(`--template is for .csv and .tsv files: ${names} is read as ${what}`);
  }
  if (!hasColumn(template)) {
    const why = 'without one all prompts are the same';
    throw new BatchError(`--template must have a {{column}} in it, got "${template}": ${why}`);
  }
}

function formatOf(name: string): InputFormat {
  const ending = name.replace(/\.gz$/, '').match(/\.(csv|tsv)$/)?.[1];
  return ending === 'csv' || ending === 'tsv' ? ending : 'jsonl';
}

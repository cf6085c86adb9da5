import { parse } from 'csv-parse';
import { InputError, messageOf } from '../errors.ts';
import { at, countAt, type JsonObject } from '../json.ts';
import type { BatchRequest } from '../request.ts';
import { MAX_LINE_BYTES } from './lines.ts';
import { type LineDefaults, promptRequest } from './parse-line.ts';
import { checkedUtf8 } from './utf8.ts';

const COLUMN = /\{\{\s*([^{}]+?)\s*\}\}/g;
const ID_COLUMNS = ['custom_id', 'id'];

/** Whether a template has a column in it. */
export function hasColumn(template: string): boolean {
  return template.search(COLUMN) >= 0;
}

/** A row of a table, and the line on which it ends. */
interface Row {
  readonly record: Readonly<Record<string, string>>;
  readonly line: number;
}

/** @throws InputError for a row that has too few or too many columns, and for a name of two columns */
async function* readRows(
  chunks: AsyncIterable<Uint8Array>,
  delimiter: string,
  name: string,
): AsyncGenerator<Row> {
  // The parser counts a line break of two characters within quotes as two lines.
  let surplus = 0;
  const parser = parse({
    delimiter,
    columns: (names: string[]) => {
      surplus += pairsIn(names);
      return checkedNames(names, name);
    },
    on_record: (record: Row['record'], { lines }) => {
      surplus += pairsIn(Object.values(record));
      return { record, line: lines - surplus };
    },
    bom: true,
    skip_empty_lines: true,
    // A quote that is never closed would make the rest of the file one row.
    max_record_size: MAX_LINE_BYTES,
  });
  const feed = async () => {
    for await (const chunk of checkedUtf8(chunks)) {
      if (parser.destroyed) return;
      if (!parser.write(chunk)) await new Promise((resolve) => parser.once('drain', resolve));
    }
    parser.end();
  };
  feed().catch((error: unknown) => parser.destroy(asError(error)));
  try {
    yield* parser;
  } catch (error) {
    const lines = countAt(error, 'lines');
    if (lines === undefined) throw error;
    // An error of the length of a row has its cells.
    const cells = at(error, 'record');
    const line = lines - surplus - (Array.isArray(cells) ? pairsIn(cells) : 0);
    const problem = messageOf(error).replace(/ (?:on|at) line \d+/, '');
    throw new InputError(`${name}:${line}`, `not a table: ${problem}`, error);
  }
}

/** The number of line breaks of two characters, as of Windows. */
function pairsIn(cells: readonly string[]): number {
  return cells.reduce((sum, cell) => sum + cell.split('\r\n').length - 1, 0);
}

/** Of two columns with one name, a row would keep the last alone. Columns without a name may be many. */
function checkedNames(names: string[], file: string): string[] {
  const twice = names.find((name, index) => name !== '' && names.indexOf(name) !== index);
  if (twice === undefined) return names;
  throw new InputError(file, `two columns have the name "${twice}": each name must be there once`);
}

/**
 * Makes a request of each row, by a template with `{{column}}` in it.
 * @param template default: the column `prompt`
 */
export async function* readTable(
  chunks: AsyncIterable<Uint8Array>,
  delimiter: string,
  name: string,
  template: string | undefined,
  idOfLine: (line: number) => string,
  defaults: LineDefaults,
): AsyncGenerator<BatchRequest> {
  const made = template ?? '{{prompt}}';
  for await (const { record, line } of readRows(chunks, delimiter, name)) {
    const place = `${name}:${line}`;
    const prompt = made.replaceAll(COLUMN, (_whole, column: string) => {
      const cell = Object.hasOwn(record, column) ? record[column] : undefined;
      if (cell !== undefined) return cell;
      const has = Object.keys(record).join(', ');
      const hint = template === undefined ? '; name others with --template "… {{column}} …"' : '';
      throw new InputError(place, `there is no column "${column}": the table has ${has}${hint}`);
    });
    const id = ID_COLUMNS.map((column) => record[column]).find((cell) => cell);
    // The result has all columns of the row as its metadata.
    const row: JsonObject = { metadata: record, ...(id !== undefined && { custom_id: id }) };
    yield promptRequest(prompt, row, place, idOfLine(line), defaults);
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

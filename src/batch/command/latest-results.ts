import { statSync } from 'node:fs';
import { BatchError, fileProblem } from '../errors.ts';
import { IdTable } from '../ledger/id-table.ts';
import { NoResultLineError, type PlacedResult, readResults } from '../ledger/read-results.ts';

/**
 * The last result of each id, in the order of the file: a request that was sent again has several.
 * The file is read twice, so that no results are kept in memory.
 * @throws BatchError
 */
export async function* latestResults(file: string): AsyncGenerator<PlacedResult> {
  try {
    if (statSync(file).isDirectory())
      throw new BatchError(`${file}: this is a directory, not a file`);
    const last = new IdTable();
    for await (const { result, number } of readResults(file)) last.set(result.id, number);
    for await (const placed of readResults(file)) {
      if (last.get(placed.result.id) === placed.number) yield placed;
    }
  } catch (error) {
    if (error instanceof BatchError) throw error;
    const place = error instanceof NoResultLineError ? `${file}:${error.line}` : file;
    throw new BatchError(`${place}: ${fileProblem(error)}`, { cause: error });
  }
}

import { createReadStream, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { createGunzip } from 'node:zlib';
import { globSync, isDynamicPattern } from 'tinyglobby';
import { BatchError, fileProblem } from '../errors.ts';

/** The name of standard input. */
export const STDIN = '-';

/** A file of the input, or standard input. */
export interface Source {
  /** As it is shown. */
  readonly name: string;
  /** The path; undefined for standard input. */
  readonly path: string | undefined;
  /** Bytes on disk; undefined for standard input. */
  readonly bytes: number | undefined;
  open(): AsyncIterable<Uint8Array>;
}

/**
 * Finds the files of paths and patterns (`prompts/*.jsonl`), in the order of their names.
 * @throws BatchError for what is not there, or is no file
 */
export function findSources(paths: readonly string[]): Source[] {
  if (paths.length === 0) throw new BatchError('no input: name a file, or - for standard input');
  const sources = paths.flatMap((path) =>
    path === STDIN ? [standardInput()] : expand(path).map(fileSource),
  );
  const names = sources.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new BatchError(`${twice} is named twice as an input`);
  return sources;
}

function expand(path: string): string[] {
  // A file may have the name of a pattern.
  if (!isDynamicPattern(path) || exists(path)) return [path];
  const found = globSync(path, { expandDirectories: false, absolute: isAbsolute(path) }).sort();
  if (found.length === 0) throw new BatchError(`${path}: no file matches this pattern`);
  return found;
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function standardInput(): Source {
  return { name: 'stdin', path: undefined, bytes: undefined, open: () => process.stdin };
}

function fileSource(path: string): Source {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) {
      throw new BatchError(`${path}: this is a directory: name its files, such as ${path}/*.jsonl`);
    }
    return { name: path, path, bytes: stat.size, open: () => openFile(path) };
  } catch (error) {
    if (error instanceof BatchError) throw error;
    throw new BatchError(`${path}: ${fileProblem(error)}`, { cause: error });
  }
}

function openFile(path: string): AsyncIterable<Uint8Array> {
  const file = createReadStream(path);
  if (!path.endsWith('.gz')) return file;
  const unzipped = createGunzip();
  file.on('error', (error) => unzipped.destroy(error));
  unzipped.on('close', () => file.destroy());
  return file.pipe(unzipped);
}

/** What went wrong while a source was read, in words. */
export function readProblem(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  if (code === 'Z_BUF_ERROR') {
    return 'the gzip data ends early: the file was cut off. Make it anew; results so far are kept';
  }
  if (typeof code === 'string' && code.startsWith('Z_')) {
    return 'this is no gzip data, though the name ends in .gz';
  }
  return fileProblem(error);
}

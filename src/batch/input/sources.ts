import { createReadStream, type Stats, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { globSync, isDynamicPattern } from 'tinyglobby';
import { BatchError, fileProblem } from '../errors.ts';
import { Pipe } from './pipe.ts';

/** The names of standard input: that of the command line, and those of operating systems. */
const STDIN = '-';
const STDIN_PATHS = ['/dev/stdin', '/dev/fd/0', '/proc/self/fd/0'];

/** A file of the input, or a source that can be read only once. */
export interface Source {
  /** The name that messages show. */
  readonly name: string;
  /** The path of a file; undefined for standard input, a pipe or a device: it is read only once. */
  readonly path: string | undefined;
  open(): AsyncIterable<Uint8Array>;
  /** Ends a read that waits for more data; nothing is read after that. */
  readonly close?: () => void;
}

/** A source, and a key that is the same for all names of one file. */
interface Found {
  readonly source: Source;
  readonly identity: string;
}

/**
 * Finds the files of paths and patterns (`prompts/*.jsonl`), in the order of their names.
 * @throws BatchError for a path that does not exist, is not a file, or is named twice
 */
export function findSources(paths: readonly string[]): Source[] {
  if (paths.length === 0) throw new BatchError('no input: name a file, or - for standard input');
  const names = new Map<string, string>();
  return paths.flatMap((path) => {
    if (path === '')
      throw new BatchError('an input has an empty name: name a file, or - for stdin');
    const found = path === STDIN ? [standardInput('stdin')] : expand(path).map(findPath);
    return found.map(({ source, identity }) => {
      const other = names.get(identity);
      if (other === source.name) throw new BatchError(`${other} is named twice as an input`);
      if (other !== undefined) {
        throw new BatchError(`${source.name} is the same input as ${other}: name it once`);
      }
      names.set(identity, source.name);
      return source;
    });
  });
}

/** Whether a path of the input may be standard input. */
export function mayBeStdin(path: string): boolean {
  return path === STDIN || STDIN_PATHS.includes(path);
}

function expand(path: string): string[] {
  // The name of a file may look like a pattern.
  if (!isDynamicPattern(path) || exists(path)) return [path];
  const found = globSync(path, { expandDirectories: false, absolute: isAbsolute(path) }).sort();
  if (found.length === 0) throw new BatchError(`${path}: no file matches this pattern`);
  return found;
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function standardInput(name: string): Found {
  const source = { name, path: undefined, open: () => process.stdin };
  return { source, identity: STDIN };
}

function findPath(path: string): Found {
  const stat = statOf(path);
  if (stat.isDirectory()) {
    throw new BatchError(`${path}: this is a directory: name its files, such as ${path}/*.jsonl`);
  }
  const identity = `${stat.dev}:${stat.ino}`;
  if (stat.isFile()) return { source: { name: path, path, open: () => openFile(path) }, identity };
  if (mayBeStdin(path)) return standardInput(path);
  if (stat.isSocket()) throw new BatchError(`${path}: this is a socket, which cannot be read`);
  return { source: sourceOnce(path, stat), identity };
}

/** A pipe can be read only once. */
function sourceOnce(path: string, stat: Stats): Source {
  if (!stat.isFIFO()) return { name: path, path: undefined, open: () => openFile(path) };
  const pipe = new Pipe(path);
  const open = () => unzipped(path, Readable.from(pipe.read()));
  return { name: path, path: undefined, open, close: () => pipe.close() };
}

function statOf(path: string): Stats {
  try {
    return statSync(path);
  } catch (error) {
    throw new BatchError(`${path}: ${fileProblem(error)}`, { cause: error });
  }
}

function openFile(path: string): AsyncIterable<Uint8Array> {
  return unzipped(path, createReadStream(path));
}

function unzipped(path: string, bytes: Readable): AsyncIterable<Uint8Array> {
  if (!path.endsWith('.gz')) return bytes;
  const unzip = createGunzip();
  bytes.on('error', (error) => unzip.destroy(error));
  unzip.on('close', () => bytes.destroy());
  return bytes.pipe(unzip);
}

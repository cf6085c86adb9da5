import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import type { ParsedStack } from 'vitest';

/**
 * Maps a stack frame of a compiled file to its source. Node's `--enable-source-maps` does this too,
 * but slows down each new error, so that the tests take a tenth longer.
 */
export function sourceFrame(_error: unknown, frame: ParsedStack): void {
  const file = `${frame.file}.map`;
  if (!existsSync(file)) return;
  const map = new SourceMap(JSON.parse(readFileSync(file, 'utf8')));
  const entry = map.findEntry(frame.line - 1, frame.column - 1);
  if (!('originalSource' in entry)) return;
  frame.file = resolve(dirname(file), entry.originalSource);
  frame.line = entry.originalLine + 1;
  frame.column = entry.originalColumn + 1;
}

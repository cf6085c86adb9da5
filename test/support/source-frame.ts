import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import type { ParsedStack } from 'vitest';

/**
 * Makes a frame of a stack in a compiled file one of its source. Node would do so too, with
 * `--enable-source-maps`: then each error that is made takes longer, and tests take a tenth more.
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

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sources } from './render.ts';
import { tablesOf } from './tables.ts';

/** Where the copies in pages come from. @param root the folder of the repository */
export function sourcesOf(root: string): Sources {
  return {
    example: (name) => readFileSync(join(root, 'docs/examples', name), 'utf8'),
    table: tablesOf(root),
  };
}

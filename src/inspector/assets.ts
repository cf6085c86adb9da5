import { readFile } from 'node:fs/promises';

/** A file of the page. */
export interface Asset {
  readonly type: string;
  readonly body: Buffer;
}

const FILES = {
  '/': { file: 'index.html', type: 'text/html; charset=utf-8' },
  '/page.js': { file: 'page.js', type: 'text/javascript; charset=utf-8' },
  '/page.css': { file: 'page.css', type: 'text/css; charset=utf-8' },
  '/icon.svg': { file: 'icon.svg', type: 'image/svg+xml' },
} as const;

/** Where the build puts the page, beside this module's bundle. @throws in a bundle that has no URL */
const builtPage = () => new URL('./page/', import.meta.url);

/** Reads the page, by path. @throws where the package was not built */
export async function readAssets(folder: URL = builtPage()): Promise<ReadonlyMap<string, Asset>> {
  const read = Object.entries(FILES).map(
    async ([path, { file, type }]) =>
      [path, { type, body: await readFile(new URL(file, folder)) }] as const,
  );
  return new Map(await Promise.all(read));
}

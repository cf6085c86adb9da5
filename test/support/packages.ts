import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/** How `rxjs` is found: the same types, the same code, in one file. */
const RXJS = {
  name: 'rxjs',
  exports: {
    '.': { types: './dist/types/index.d.ts', default: './index.js' },
    './package.json': './package.json',
  },
};

/**
 * Fills a folder of packages with links to those of another. Only `rxjs` becomes one file: Node reads
 * more than two hundred of it whenever a program starts, which the tests do hundreds of times.
 * `test/package.test.ts` installs it as it is.
 */
export async function linkPackages(from: string, to: string): Promise<void> {
  await mkdir(join(to, 'rxjs/dist'), { recursive: true });
  const names = (await readdir(from)).filter((name) => name !== 'rxjs');
  await Promise.all(names.map((name) => symlink(join(from, name), join(to, name))));
  const { version } = JSON.parse(await readFile(join(from, 'rxjs/package.json'), 'utf8'));
  await writeFile(join(to, 'rxjs/package.json'), JSON.stringify({ ...RXJS, version }));
  await symlink(join(from, 'rxjs/dist/types'), join(to, 'rxjs/dist/types'), 'dir');
  const bundle = await rolldown({ input: join(from, 'rxjs/dist/esm/index.js'), tsconfig: false });
  await bundle.write({ file: join(to, 'rxjs/index.js'), format: 'cjs' });
}

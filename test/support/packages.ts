import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/** The entry of `rxjs`: the same types, and its code in one file. */
const RXJS = {
  name: 'rxjs',
  exports: {
    '.': { types: './dist/types/index.d.ts', default: './index.js' },
    './package.json': './package.json',
  },
};

/**
 * Fills a folder of packages with links to another folder's packages, except that `rxjs` becomes
 * one file: Node reads more than two hundred of its files at each start of a program, and the tests
 * start hundreds of programs. `test/package.test.ts` installs the unchanged `rxjs`.
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

import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { linkPackages } from './packages.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder that looks like the published package, with the compiled programs in build/. */
    readonly packageFolder: string;
  }
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');
const PUBLISHED = [
  ...['package.json', 'README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'LICENSE'],
  ...['bench', 'bench/goodput', 'dashboards', 'test/oracle'].map((of) => `${of}/README.md`),
];

/** A folder with the built package to copy. Default: the package is built. */
const { TEST_DIST } = process.env;

/**
 * Compiles library and programs once for all test files, into a separate folder that looks like the
 * package, so that this build and that of the repository do not overwrite each other.
 */
export default function setup(project: TestProject): Promise<() => Promise<void>> {
  return setupWith(project, (to) => linkPackages(join(ROOT, 'node_modules'), to));
}

/** Builds with other installed packages, which `link` puts at a path. */
export async function setupWith(
  project: TestProject,
  link: (path: string) => Promise<void>,
): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-'));
  await Promise.all(PUBLISHED.map((file) => cp(join(ROOT, file), join(folder, file))));
  await cp(join(ROOT, 'docs'), join(folder, 'docs'), {
    recursive: true,
    filter: (path) => ['', '.md', '.png', '.svg'].includes(extname(path)),
  });
  await link(join(folder, 'node_modules'));
  await symlink(join(ROOT, 'examples'), join(folder, 'examples'), 'dir');
  try {
    const tools = ['-p', join(ROOT, 'tsconfig.tools.json'), '--outDir', join(folder, 'build')];
    await Promise.all([
      TEST_DIST === undefined
        ? run(join(ROOT, 'tools/build.js'), join(folder, 'dist'))
        : cp(resolve(ROOT, TEST_DIST), join(folder, 'dist'), { recursive: true }),
      // Ignore type errors, which another check finds: only the emitted code is needed.
      run(COMPILER, ...tools, '--noCheck', '--singleThreaded'),
    ]);
  } catch (error) {
    // Do not fail here: only the tests that need the build fail.
    console.error('the package could not be compiled:', error);
  }
  project.provide('packageFolder', folder);
  return () => rm(folder, { recursive: true });
}

async function run(...args: string[]): Promise<void> {
  await promisify(execFile)(process.execPath, args);
}

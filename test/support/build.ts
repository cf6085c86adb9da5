import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder that is the package as it is published, and has the compiled programs in build/. */
    readonly packageFolder: string;
  }
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');
const PUBLISHED = ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE'];

/**
 * Compiles library and programs once for all test files, into a folder of its own that looks like
 * the package: nobody's build is in the way, and this one in nobody's.
 */
export default function setup(project: TestProject): Promise<() => Promise<void>> {
  return setupWith(project, join(ROOT, 'node_modules'));
}

/** The same with packages of another folder beside it. */
export async function setupWith(
  project: TestProject,
  packages: string,
): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-'));
  await Promise.all(PUBLISHED.map((file) => copyFile(join(ROOT, file), join(folder, file))));
  await symlink(packages, join(folder, 'node_modules'), 'dir');
  await symlink(join(ROOT, 'examples'), join(folder, 'examples'), 'dir');
  try {
    const tools = ['-p', join(ROOT, 'tsconfig.tools.json'), '--outDir', join(folder, 'build')];
    await Promise.all([
      run(join(ROOT, 'tools/build.js'), join(folder, 'dist')),
      // Types are checked elsewhere; here only what is emitted counts.
      run(COMPILER, ...tools, '--noCheck'),
    ]);
  } catch (error) {
    // The tests that need it will fail; the others need not.
    console.error('the package could not be compiled:', error);
  }
  project.provide('packageFolder', folder);
  return () => rm(folder, { recursive: true });
}

async function run(...args: string[]): Promise<void> {
  await promisify(execFile)(process.execPath, args);
}

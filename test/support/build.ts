import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The compiled main program, beside a library compiled as it is published. */
    readonly batchProgram: string;
  }
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');
// Types are checked elsewhere; here only what is emitted counts.
const EMIT = ['--noCheck', '--declaration', 'false', '--sourceMap', 'false'];

/**
 * Compiles library and programs once for all test files, into a folder of its own that looks like
 * the package: nobody's build is in the way, and this one in nobody's.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-'));
  await copyFile(join(ROOT, 'package.json'), join(folder, 'package.json'));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir');
  await symlink(join(ROOT, 'examples'), join(folder, 'examples'), 'dir');
  await Promise.all([
    compile('tsconfig.build.json', join(folder, 'dist'), ['--declarationMap', 'false']),
    compile('tsconfig.tools.json', join(folder, 'build')),
  ]);
  project.provide('batchProgram', join(folder, 'build/examples/batch/main.js'));
  return () => rm(folder, { recursive: true });
}

async function compile(config: string, outDir: string, more: string[] = []): Promise<void> {
  const args = [COMPILER, '-p', join(ROOT, config), '--outDir', outDir, ...EMIT, ...more];
  await promisify(execFile)(process.execPath, args);
}

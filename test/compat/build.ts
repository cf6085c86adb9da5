import { symlink } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { setupWith } from '../support/build.ts';

/** The package and its programs, with the packages of this folder beside them. */
export default function setup(project: TestProject): Promise<() => Promise<void>> {
  const packages = fileURLToPath(new URL('node_modules', import.meta.url));
  return setupWith(project, (path) => symlink(packages, path, 'dir'));
}

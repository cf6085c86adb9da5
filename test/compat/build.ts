import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { setupWith } from '../support/build.ts';

/** The package and its programs, with the packages of this folder beside them. */
export default function setup(project: TestProject): Promise<() => Promise<void>> {
  return setupWith(project, fileURLToPath(new URL('node_modules', import.meta.url)));
}

/**
 * Runs all checks and all tests: `node tools/test.js [arguments of vitest]`. Tests begin when they
 * are compiled and the package is built. Checks have a low priority: they use the time in which
 * tests wait.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { join } from 'node:path';
import { environment, root, startChecks } from './checks.js';
import { compileTests } from './compile-tests.js';

/** Below the package, whose dependencies are found from there. */
const TEST_FOLDER = join(root, 'build/tests');

const { built, passed } = startChecks(constants.priority.PRIORITY_BELOW_NORMAL);

/** @returns whether all tests passed */
async function testsPass() {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const env = { ...environment, TEST_DIST: 'dist', TEST_FOLDER };
  // Files are named as their sources are.
  const args = process.argv.slice(2).map((each) => each.replace(/(?<=\.test)\.ts$/, ''));
  const [code] = await once(
    spawn(process.execPath, [vitest, 'run', ...args], { cwd: root, env, stdio: 'inherit' }),
    'exit',
  );
  return code === 0;
}

const [isBuilt] = await Promise.all([built, compileTests(TEST_FOLDER)]);
const haveTestsPassed = isBuilt && (await testsPass());
if (!(await passed) || !haveTestsPassed) process.exitCode = 1;

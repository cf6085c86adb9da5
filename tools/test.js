/**
 * Runs all checks and all tests: `node tools/test.js [arguments of vitest]`. Tests begin when the
 * package is built. Checks have a low priority: they use the time in which tests wait.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { join } from 'node:path';
import { environment, root, startChecks } from './checks.js';

const { built, passed } = startChecks(constants.priority.PRIORITY_BELOW_NORMAL);

/** @returns whether all tests passed */
async function testsPass() {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const env = { ...environment, TEST_DIST: 'dist' };
  const args = [vitest, 'run', ...process.argv.slice(2)];
  const [code] = await once(
    spawn(process.execPath, args, { cwd: root, env, stdio: 'inherit' }),
    'exit',
  );
  return code === 0;
}

const haveTestsPassed = (await built) && (await testsPass());
if (!(await passed) || !haveTestsPassed) process.exitCode = 1;

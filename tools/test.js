/**
 * Builds the package, compiles the tests, and runs them:
 * `node tools/test.js [arguments of vitest]`. Default: all tests except the projects `programs*`.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { environment, root, runScript } from './checks.js';
import { compileTests } from './compile-tests.js';

/** A folder inside the package's folder, so that its dependencies are found. */
const TEST_FOLDER = join(root, 'build/tests');

/** A fresh seed for long runs. The printed line says how to repeat the run with this seed. */
function freshSeed() {
  const seed = `${randomInt(2 ** 31)}`;
  console.log(`TEST_SEED=${seed} draws these cases again`);
  return seed;
}

/** @returns whether all tests passed */
async function testsPass() {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { TEST_LONG, TEST_SEED = TEST_LONG ? freshSeed() : '1' } = process.env;
  const env = { ...environment, TEST_DIST: 'dist', TEST_FOLDER, TEST_SEED };
  const given = process.argv.slice(2);
  const asked = given.length === 0 ? ['--project', '!programs*'] : given;
  // Test files have the names of their sources.
  const args = asked.map((each) => each.replace(/(?<=\.test)\.ts$/, ''));
  const [code] = await once(
    spawn(process.execPath, [vitest, 'run', ...args], { cwd: root, env, stdio: 'inherit' }),
    'exit',
  );
  return code === 0;
}

const [isBuilt] = await Promise.all([runScript('build'), compileTests(TEST_FOLDER)]);
if (!isBuilt || !(await testsPass())) process.exitCode = 1;

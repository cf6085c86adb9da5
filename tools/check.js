/**
 * Runs the scripts of package.json whose names begin with `check:`, as many at a time as there are
 * processors, and prints what those say that fail: `node tools/check.js`. Those that begin with
 * `check:package:` look at the built package, which is built first.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';

const root = fileURLToPath(new URL('..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const PATH = [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter);
const slots = pLimit(availableParallelism());

/** Whether a script has passed. */
function passes(name) {
  const options = { cwd: root, env: { ...process.env, PATH }, maxBuffer: 2 ** 26 };
  return slots(
    () =>
      new Promise((resolve) => {
        execFile('sh', ['-c', scripts[name]], options, (error, stdout, stderr) => {
          if (error) console.error(`${name} failed: ${scripts[name]}\n${stdout}${stderr}`);
          resolve(!error);
        });
      }),
  );
}

async function all(names) {
  const passed = await Promise.all(names.map(passes));
  return passed.every((isPassed) => isPassed);
}

const names = Object.keys(scripts).filter((name) => name.startsWith('check:'));
const ofPackage = names.filter((name) => name.startsWith('check:package:'));
const others = names.filter((name) => !ofPackage.includes(name));
const built = passes('build').then((isBuilt) => isBuilt && all(ofPackage));
const passed = await Promise.all([built, all(others)]);
if (passed.includes(false)) process.exitCode = 1;

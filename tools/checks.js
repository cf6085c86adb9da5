/** The checks of this project: the scripts of package.json whose names begin with `check:`. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';

export const root = fileURLToPath(new URL('..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** The environment of a script, with the programs of installed packages in PATH. */
export const environment = {
  ...process.env,
  PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
};

/**
 * Builds the package and runs all checks, as many at a time as there are processors. Those that
 * begin with `check:package:` inspect the built package. Each failed check prints its output.
 *
 * @returns whether the build and all checks succeeded
 */
export async function checksPass() {
  const slots = pLimit(availableParallelism());
  const passes = (name) => slots(() => runScript(name));
  const all = async (names) => (await Promise.all(names.map(passes))).every(Boolean);
  const names = Object.keys(scripts).filter((name) => name.startsWith('check:'));
  const ofPackage = names.filter((name) => name.startsWith('check:package:'));
  const others = names.filter((name) => !ofPackage.includes(name));
  const packagePasses = passes('build').then((isBuilt) => isBuilt && all(ofPackage));
  return (await Promise.all([packagePasses, all(others)])).every(Boolean);
}

/**
 * Runs a script of package.json, and prints its output if it fails. Resolves with whether it
 * succeeded.
 */
export function runScript(name) {
  const options = { cwd: root, env: environment, maxBuffer: 2 ** 26 };
  return new Promise((resolve) => {
    execFile('sh', ['-c', scripts[name]], options, (error, stdout, stderr) => {
      if (error) console.error(`${name} failed: ${scripts[name]}\n${stdout}${stderr}`);
      resolve(!error);
    });
  });
}

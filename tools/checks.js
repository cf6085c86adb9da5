/** The checks of this project: the scripts of package.json whose names begin with `check:`. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, setPriority } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';

export const root = fileURLToPath(new URL('..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** The environment of a script: the programs of the packages are found by their names. */
export const environment = {
  ...process.env,
  PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
};

/**
 * Builds the package and starts the checks, as many at a time as there are processors. Those that
 * begin with `check:package:` look at the built package. Each check that fails prints its output.
 *
 * @param priority of the checks, but not of the build, as `os.setPriority` takes it
 * @returns `built`: whether the build succeeded; `passed`: whether it and all checks did
 */
export function startChecks(priority = 0) {
  const slots = pLimit(availableParallelism());
  const passes = (name, own = priority) => slots(() => runScript(name, own));
  const all = async (names) =>
    (await Promise.all(names.map((name) => passes(name)))).every(Boolean);
  const names = Object.keys(scripts).filter((name) => name.startsWith('check:'));
  const ofPackage = names.filter((name) => name.startsWith('check:package:'));
  const others = names.filter((name) => !ofPackage.includes(name));
  const built = passes('build', 0);
  const packagePasses = built.then((isBuilt) => isBuilt && all(ofPackage));
  const passed = Promise.all([packagePasses, all(others)]).then((each) => each.every(Boolean));
  return { built, passed };
}

/** Runs a script of package.json. Resolves with whether it succeeded. */
function runScript(name, priority) {
  const options = { cwd: root, env: environment, maxBuffer: 2 ** 26 };
  return new Promise((resolve) => {
    const child = execFile('sh', ['-c', scripts[name]], options, (error, stdout, stderr) => {
      if (error) console.error(`${name} failed: ${scripts[name]}\n${stdout}${stderr}`);
      resolve(!error);
    });
    if (child.pid !== undefined) setPriority(child.pid, priority);
  });
}

/**
 * Compiles all tests and the modules that they import into a folder, one file for each module. Node
 * runs these files directly. Vitest would transform each module once for each of its projects, and
 * its code reads imported values more slowly, through an object.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { globSync } from 'tinyglobby';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Matches all packages except this one and the compiler's helpers. */
const external = /^(?!headgate(\/|$)|@oxc-project\/)[@a-z]/;

/** Replaces `import.meta.url` by the URL of the source, relative to which tests find files. */
const urlOfSource = {
  name: 'url-of-source',
  transform: {
    filter: { code: 'import.meta' },
    handler: (code, id) => ({
      code: `import.meta.url = ${JSON.stringify(pathToFileURL(id).href)}; ${code}`,
      // The line numbers do not change.
      map: null,
    }),
  },
};

/** @param folder inside the package's folder, so that its dependencies are found */
export async function compileTests(folder) {
  rmSync(folder, { recursive: true, force: true });
  const patterns = ['test/**/*.test.ts', 'test/support/{setup,build,closing-line}.ts'];
  const bundle = await rolldown({
    cwd: root,
    input: globSync(patterns, { cwd: root, absolute: true, ignore: 'test/compat/**' }),
    external,
    platform: 'node',
    plugins: [urlOfSource],
    treeshake: false,
    tsconfig: join(root, 'tsconfig.json'),
    transform: { target: 'node20' },
  });
  await bundle.write({
    dir: folder,
    format: 'esm',
    preserveModules: true,
    preserveModulesRoot: root,
    // Leave out the comment with the map's name: Vitest would load every map, and only failures
    // need one.
    sourcemap: 'hidden',
  });
}

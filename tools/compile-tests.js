/**
 * Compiles all tests, and what they import, into a folder: a file for each module. Node runs these as
 * they are, while Vitest would transform each module once for each of its projects, and reads a value
 * that a module imports through an object.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { globSync } from 'tinyglobby';

const root = fileURLToPath(new URL('..', import.meta.url));

/** All packages but this one, and but the helpers that the compiler adds. */
const external = /^(?!headgate(\/|$)|@oxc-project\/)[@a-z]/;

/** Tests find files by their own URL: it is that of the source. */
const urlOfSource = {
  name: 'url-of-source',
  transform: {
    filter: { code: 'import.meta' },
    handler: (code, id) => ({
      code: `import.meta.url = ${JSON.stringify(pathToFileURL(id).href)}; ${code}`,
      // The lines stay where they are.
      map: null,
    }),
  },
};

/** @param folder below that of the package, whose packages are found from there */
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
    // Vitest has Node read each map at once if the file names it: only failures need one.
    sourcemap: 'hidden',
  });
}

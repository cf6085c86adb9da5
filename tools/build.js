/**
 * Builds the package: `node tools/build.js [--code] [folder]`, `dist` by default. With `--code` it
 * leaves out the declarations, which take most of the time and are not needed to run the code.
 *
 * Each entry becomes CommonJS (`index.cjs`), which Node, Jest and others run, with its declarations
 * (`index.d.cts`). Two small files re-export these for ES modules: `index.mjs` the code, and
 * `index.d.ts` the declarations. So a class is loaded once and has one type, whether a program
 * imports or requires it. Bundlers use a third file, by the condition `module`: `index.js`, an ES
 * module, from which they can remove unused code.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import commandConfig, { licences } from '../rolldown.config.js';
import { command, entries } from './entries.js';
import { optionalProperties } from './optional-properties.js';
import { withoutDocumentation } from './without-documentation.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const external = [/^node:/, /^rxjs/, /^@opentelemetry\//, /^headgate/];

/** The names of the values that each entry of a bundle exports. */
function exportsOf({ output }) {
  return new Map(output.flatMap((file) => (file.isEntry ? [[file.name, file.exports]] : [])));
}

/**
 * Bundles the code. It is not minified: stack traces and a debugger can be read without a map.
 * @returns the names of the values that each entry exports
 */
async function bundleCode(folder) {
  const bundle = await rolldown({
    cwd: root,
    input: entries,
    external,
    platform: 'node',
    tsconfig: join(root, 'tsconfig.json'),
    plugins: [withoutDocumentation()],
  });
  const written = (format, ending, sourcemap) =>
    bundle.write({
      dir: folder,
      format,
      entryFileNames: `[name].${ending}`,
      chunkFileNames: `[name].${ending}`,
      // Put code that several entries share into one file, so that an import reads fewer files.
      codeSplitting: { groups: [{ name: 'shared', minShareCount: 2 }] },
      strict: true,
      // Source maps are half of the package: only the files that Node runs have them.
      sourcemap,
      comments: { annotation: true, legal: false, jsdoc: false },
    });
  await written('esm', 'js', false);
  return exportsOf(await written('cjs', 'cjs', true));
}

/**
 * Re-exports the CommonJS code to ES modules. Names are listed for tools that do not run the code.
 */
function wrap(folder, values) {
  for (const [name, exported] of values) {
    const code = `import headgate from './${basename(name)}.cjs';\nexport const { ${exported.join(', ')} } = headgate;\n`;
    writeFileSync(join(folder, `${name}.mjs`), code);
  }
}

/**
 * Changes exports that the code does not have into type exports: the bundler of declarations
 * exports each class as a value, even if the entry exports only its type.
 */
function exportValuesOnly(values) {
  return {
    name: 'export-values-only',
    renderChunk(code, { isEntry, name }) {
      const exported = values.get(name);
      if (!isEntry || exported === undefined) return null;
      return code.replace(/(?<=^export \{ )[^}]*(?= \})/gm, (names) => {
        const isValue = (each) => exported.includes(each);
        const list = names.split(', ').map((each) => (isValue(each) ? each : `type ${each}`));
        return list.join(', ');
      });
    },
  };
}

/**
 * Bundles the command with all its dependencies.
 * @returns the names of the values that `headgate/batch` exports
 */
async function bundleCommand(folder) {
  const { output, ...input } = commandConfig;
  const bundle = await rolldown({ ...input, cwd: root });
  const values = exportsOf(await bundle.write({ ...output, dir: join(folder, 'batch') }));
  return new Map([['batch/index', values.get('index')]]);
}

/**
 * Bundles the inspector's page with all its dependencies, since the page loads nothing from
 * elsewhere.
 */
async function bundlePage(folder) {
  const source = join(root, 'src/inspector/page');
  const page = join(folder, 'inspector/page');
  const bundle = await rolldown({
    cwd: root,
    input: { page: join(source, 'main.tsx') },
    platform: 'browser',
    plugins: [licences],
    tsconfig: join(source, 'tsconfig.json'),
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
  });
  await bundle.write({ dir: page, format: 'esm', minify: true, entryFileNames: '[name].js' });
  const styles = [join(root, 'node_modules/uplot/dist/uPlot.min.css'), join(source, 'page.css')];
  const css = styles.map((file) => readFileSync(file, 'utf8')).join('\n');
  writeFileSync(join(page, 'page.css'), css);
  for (const file of ['index.html', 'icon.svg']) copyFileSync(join(source, file), join(page, file));
}

/** Bundles the declarations that the compiler writes. */
async function bundleTypes(folder, values) {
  // Imported on demand, since loading it takes as long as bundling the code.
  const [{ rollup }, { dts }] = await Promise.all([import('rollup'), import('rollup-plugin-dts')]);
  const declarations = mkdtempSync(join(tmpdir(), 'headgate-types-'));
  try {
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const args = [compiler, '-p', join(root, 'tsconfig.build.json'), '--outDir', declarations];
    execFileSync(process.execPath, args, { stdio: 'inherit' });
    const input = Object.fromEntries(
      Object.entries({ ...entries, ...command }).map(([name, source]) => [
        name,
        join(declarations, relative('src', source).replace(/\.ts$/, '.d.ts')),
      ]),
    );
    const plugins = [dts(), exportValuesOnly(values), optionalProperties()];
    // The plugin warns of types that two entries name alike; attw and the API report check the
    // outcome.
    const onLog = (level, log, handle) => log.plugin === 'dts' || handle(level, log);
    const bundle = await rollup({ input, external, plugins, onLog });
    await bundle.write({
      dir: folder,
      format: 'es',
      entryFileNames: '[name].d.cts',
      chunkFileNames: 'shared.d.cts',
      minifyInternalExports: false,
      // Restore the type reference for `Symbol.dispose` of leases, which the bundler drops.
      banner: '/// <reference lib="esnext.disposable" />',
    });
    await bundle.close();
  } finally {
    rmSync(declarations, { recursive: true });
  }
}

const args = process.argv.slice(2);
const isCodeOnly = args[0] === '--code';
const folder = resolve(args[isCodeOnly ? 1 : 0] ?? join(root, 'dist'));
rmSync(folder, { recursive: true, force: true });
const [values, valuesOfCommand] = await Promise.all([
  bundleCode(folder),
  bundleCommand(folder),
  bundlePage(folder),
]);
wrap(folder, new Map([...values, ...valuesOfCommand]));
if (!isCodeOnly) {
  await bundleTypes(folder, values);
  for (const name of Object.keys({ ...entries, ...command })) {
    writeFileSync(join(folder, `${name}.d.ts`), `export * from './${basename(name)}.cjs';\n`);
  }
}

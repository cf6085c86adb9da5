/**
 * Builds the package: `node tools/build.js [--code] [folder]`, `dist` by default. With `--code` it
 * leaves out the declarations, which take most of the time and which nothing that runs needs.
 *
 * Each entry becomes CommonJS (`index.cjs`), which Node, Jest and the like run, and its declarations
 * (`index.d.cts`). Two small files give ES modules the same: `index.mjs` the module instance, and
 * `index.d.ts` the declarations. So a class is one class, and one type, however it was loaded.
 * Bundlers choose a third file by the condition `module`, whether a program imports or requires:
 * `index.js`, an ES module, of which they leave out what is not used.
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
  });
  const written = (format, ending, sourcemap) =>
    bundle.write({
      dir: folder,
      format,
      entryFileNames: `[name].${ending}`,
      chunkFileNames: `[name].${ending}`,
      // What several entries share is one file: fewer are read at an import.
      codeSplitting: { groups: [{ name: 'shared', minShareCount: 2 }] },
      strict: true,
      // Maps are half of the package: only what Node runs has them.
      sourcemap,
      comments: { annotation: true, legal: false, jsdoc: false },
    });
  await written('esm', 'js', false);
  return exportsOf(await written('cjs', 'cjs', true));
}

/** Gives ES modules the instance that CommonJS has. The names stand there for all who do not run it. */
function wrap(folder, values) {
  for (const [name, exported] of values) {
    const code = `import headgate from './${basename(name)}.cjs';\nexport const { ${exported.join(', ')} } = headgate;\n`;
    writeFileSync(join(folder, `${name}.mjs`), code);
  }
}

/**
 * Exports as types what the code does not have: the bundler of declarations exports as a value each
 * class whose type an entry exports.
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
 * Bundles the command with all that it needs.
 * @returns the names of the values that `headgate/batch` exports
 */
async function bundleCommand(folder) {
  const { output, ...input } = commandConfig;
  const bundle = await rolldown({ ...input, cwd: root });
  const values = exportsOf(await bundle.write({ ...output, dir: join(folder, 'batch') }));
  return new Map([['batch/index', values.get('index')]]);
}

/** Bundles the inspector's page: all that it needs comes from its own server. */
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
  // Loaded here, since it takes as long as bundling the code.
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
    // The plugin warns of types that two entries name alike; attw and the API report check the outcome.
    const onLog = (level, log, handle) => log.plugin === 'dts' || handle(level, log);
    const bundle = await rollup({ input, external, plugins, onLog });
    await bundle.write({
      dir: folder,
      format: 'es',
      entryFileNames: '[name].d.cts',
      chunkFileNames: 'shared.d.cts',
      minifyInternalExports: false,
      // Leases can be disposed; the bundler drops the reference that the source has.
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

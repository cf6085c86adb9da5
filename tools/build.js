/**
 * Builds the package: `node tools/build.js [--code] [folder]`, `dist` by default. With `--code` it
 * leaves out the declarations, which take most of the time and which nothing that runs needs.
 *
 * Each entry becomes a bundle (`index.js`), its declarations (`index.d.cts`), and two small files
 * that give CommonJS the same module instance (`index.cjs`) and ES modules the same declarations
 * (`index.d.ts`). So a class is one class, and one type, however it was imported.
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

/**
 * Bundles the code. It is not minified: stack traces and a debugger can be read without a map.
 * @returns the names of the values that each entry exports
 */
async function bundleCode(folder) {
  const bundle = await rolldown({
    cwd: root,
    input: entries,
    external,
    platform: 'neutral',
    tsconfig: join(root, 'tsconfig.json'),
  });
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    // What several entries share is one file: fewer are read at an import.
    codeSplitting: { groups: [{ name: 'shared', minShareCount: 2 }] },
    sourcemap: true,
    comments: { annotation: true, legal: false, jsdoc: false },
  });
  return new Map(output.flatMap((file) => (file.isEntry ? [[file.name, file.exports]] : [])));
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

/** Bundles the command with all that it needs. */
async function bundleCommand(folder) {
  const { output, ...input } = commandConfig;
  const bundle = await rolldown({ ...input, cwd: root });
  await bundle.write({ ...output, dir: join(folder, 'batch') });
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
const [values] = await Promise.all([bundleCode(folder), bundleCommand(folder), bundlePage(folder)]);
if (!isCodeOnly) await bundleTypes(folder, values);
for (const name of Object.keys({ ...entries, ...command })) {
  const file = basename(name);
  writeFileSync(join(folder, `${name}.cjs`), `module.exports = require('./${file}.js');\n`);
  if (isCodeOnly) continue;
  writeFileSync(join(folder, `${name}.d.ts`), `export * from './${file}.cjs';\n`);
}

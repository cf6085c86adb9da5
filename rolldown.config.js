import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'rolldown';

const PACKAGE = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//;

/** Packages that are copied into the command ask for their licences to come along. */
export const licences = {
  name: 'licences',
  generateBundle() {
    const packages = new Map(
      [...this.getModuleIds()].flatMap((id) => {
        const [, folder, name] = id.match(PACKAGE) ?? [];
        return folder === undefined ? [] : [[name, folder]];
      }),
    );
    const texts = [...packages].sort().map(([name, folder]) => {
      const file = readdirSync(folder).find((found) => /^licen[cs]e/i.test(found));
      const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const text = file === undefined ? license : readFileSync(join(folder, file), 'utf8').trim();
      return `${name} ${version}\n\n${text}\n`;
    });
    this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source: texts.join('\n----\n\n') });
  },
};

/** The command, and `headgate/batch`, with what they need inside; the library itself stays outside. */
export default defineConfig({
  input: { index: 'src/batch/index.ts', main: 'src/batch/command/main.ts' },
  platform: 'node',
  external: [
    /^rxjs/,
    /^headgate(\/(advanced|bullmq|inspector|redis|telemetry))?$/,
    'bullmq',
    'ioredis',
    'lmdb',
  ],
  plugins: [licences],
  output: {
    dir: 'dist/batch',
    format: 'cjs',
    minify: true,
    strict: true,
    entryFileNames: '[name].cjs',
    chunkFileNames: 'parts/[name].cjs',
  },
  tsconfig: false,
});

/**
 * Compares the public surface of each entry with `etc/*.api.md`:
 * `node tools/api-report.js [--accept] [folder]`, where `folder` holds the built package (`dist`).
 * With `--accept` it writes the reports; without, it exits with code 1 if there is a difference.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor';
import { entries } from './entries.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values, positionals } = parseArgs({
  options: { accept: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const dist = resolve(positionals[0] ?? join(root, 'dist'));
const reports = join(root, 'etc');
const temporary = mkdtempSync(join(tmpdir(), 'headgate-api-'));

/** Messages of api-extractor that the report leaves out. */
const none = { default: { logLevel: 'none' } };

const declarationsOf = (name) => join(dist, `${name}.d.cts`);
const names = Object.keys(entries);

function configOf(name) {
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: root,
      newlineKind: 'lf',
      mainEntryPointFilePath: declarationsOf(name),
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: 'es2023',
            module: 'nodenext',
            lib: ['es2023', 'dom', 'esnext.disposable'],
            types: [],
            skipLibCheck: true,
            noCheck: true,
          },
          files: [declarationsOf(name)],
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: `${name === 'index' ? 'headgate' : `headgate-${name.replace('/index', '')}`}.api.md`,
        reportFolder: reports,
        reportTempFolder: temporary,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      messages: {
        compilerMessageReporting: none,
        extractorMessageReporting: none,
        tsdocMessageReporting: none,
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, 'package.json'),
  });
}

mkdirSync(reports, { recursive: true });
try {
  const configs = names.map(configOf);
  const [first] = configs;
  // The declarations are read once for all entries.
  const compilerState = CompilerState.create(first, {
    additionalEntryPoints: names.map(declarationsOf),
  });
  for (const config of configs) {
    const result = Extractor.invoke(config, { compilerState, localBuild: values.accept });
    if (result.apiReportChanged && !values.accept) process.exitCode = 1;
  }
} finally {
  rmSync(temporary, { recursive: true });
}
if (process.exitCode === 1) {
  console.error('The public surface has changed. Is it meant? Then run `npm run api:accept`.');
}

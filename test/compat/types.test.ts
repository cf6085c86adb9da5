import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Compilers, the one that headgate is developed with last. */
const COMPILERS: Readonly<Record<string, string>> = {
  '5.2': join(HERE, 'node_modules/typescript-5.2'),
  '5.4': join(HERE, 'node_modules/typescript-5.4'),
  '5.9': join(HERE, 'node_modules/typescript-5.9'),
  '7': join(ROOT, 'node_modules/typescript'),
};

/** Kinds of projects: the ending of their sources, and how these are compiled. */
const PROJECTS = {
  'CommonJS, node10': ['.ts', { module: 'commonjs', moduleResolution: 'node' }],
  'CommonJS, node16': ['.cts', { module: 'node16' }],
  'ES modules, node16': ['.mts', { module: 'node16' }],
  'a bundler': ['.ts', { module: 'esnext', moduleResolution: 'bundler' }],
} as const;

/** TypeScript 7 has no node10. */
const CASES = Object.entries(COMPILERS).flatMap(([version, compiler]) =>
  Object.entries(PROJECTS)
    .filter(([project]) => version !== '7' || project !== 'CommonJS, node10')
    .map(([project, [ending, options]]) => ({ version, compiler, project, ending, options })),
);

const USE = `
import { of, Observable } from 'rxjs';
import { createLimiter, type Outcome, throttle, throttleFrom } from 'headgate';
import { classify, type Changes } from 'headgate/advanced';
import { ManualClock } from 'headgate/simulator';
import { startTelemetry, type Telemetry } from 'headgate/telemetry';

export const lengths: Observable<number> = of('a').pipe(throttle(async (word) => word.length));
export const outcomes: Observable<Outcome<string, number>> = of('a').pipe(
  throttle(async (word: string) => word.length, { outcomes: true, concurrency: 2 }),
);
export const answer: Promise<number> = createLimiter({ clock: new ManualClock() }).run(() => 42);
export const ofStream: Observable<number> = throttleFrom(
  new ReadableStream<string>(),
  async (line) => line.length,
);
export const telemetry: Promise<Telemetry> = startTelemetry({ serviceName: 'user' });
export const changes: Changes = { concurrency: 2 };
export const { kind } = classify(new Error('429'));
// @ts-expect-error types are found, and say what is wrong
throttle(async () => 1, { concurrency: 'two' });
`;

const folder = mkdtempSync(join(tmpdir(), 'headgate-types-'));

beforeAll(() => {
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(inject('packageFolder'), join(folder, 'node_modules/headgate'), 'dir');
  symlinkSync(join(HERE, 'node_modules/rxjs'), join(folder, 'node_modules/rxjs'), 'dir');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the types of the package', () => {
  it.each(CASES)(
    'compile with TypeScript $version for $project',
    ({ compiler, ending, options }) => {
      const name = `use${ending}`;
      writeFileSync(join(folder, name), USE);
      const common = { strict: true, noEmit: true, target: 'es2022', lib: ['es2022', 'dom'] };
      const compilerOptions = { ...common, ...options, types: [], skipLibCheck: false };
      writeFileSync(
        join(folder, 'tsconfig.json'),
        JSON.stringify({ compilerOptions, files: [name] }),
      );
      const args = [join(compiler, 'bin/tsc'), '-p', folder, '--pretty', 'false'];
      const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
      // What is wrong with the declarations of a peer is not headgate's.
      const isOfPeer = (line: string) => /^\S*node_modules\/(rxjs|@opentelemetry)\//.test(line);
      expect(stdout.split('\n').filter((line) => line !== '' && !isOfPeer(line))).toEqual([]);
    },
  );
});

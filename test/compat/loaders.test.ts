import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { installPacked } from '../support/packed.ts';

const PACKAGES = fileURLToPath(new URL('node_modules', import.meta.url));
const JEST = join(PACKAGES, 'jest/bin/jest.js');
const TSX = join(PACKAGES, 'tsx/dist/cli.mjs');
const ESBUILD = join(PACKAGES, '.bin/esbuild');
const PEERS = ['rxjs', '@opentelemetry/api'];

/**
 * The Node that headgate is developed with, which the path has, and the newer one of this folder.
 */
const NODES = Object.entries({ 'the path': 'node', 'test/compat': process.execPath });

const project = mkdtempSync(join(tmpdir(), 'headgate-loaders-'));

const TESTED = `
const { from, lastValueFrom, toArray } = require('rxjs');
const { throttle } = require('headgate');
const { ManualClock } = require('headgate/simulator');
const entries = Object.keys(require('headgate/package.json').exports);

test('throttle runs', async () => {
  const lengths = from(['a', 'bb']).pipe(throttle(async (word) => word.length), toArray());
  expect(await lastValueFrom(lengths)).toEqual([1, 2]);
  expect(new ManualClock(7).now()).toBe(7);
});

test.each(entries)('%s is loaded', (entry) => {
  expect(Object.keys(require(entry.replace('.', 'headgate')))).not.toEqual([]);
});
`;

const TESTED_TYPESCRIPT = `
import { createLimiter, HeadgateError, LimiterClosedError } from 'headgate';
import { createProvider } from 'headgate/simulator';

test('a limiter runs, and its errors are known', async () => {
  const limiter = createLimiter({ concurrency: 1 });
  expect(await limiter.run((): number => 42)).toBe(42);
  limiter.close();
  const error: unknown = await limiter.run(() => 1).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(LimiterClosedError);
  expect(error).toBeInstanceOf(HeadgateError);
  expect(typeof createProvider).toBe('function');
});
`;

/** As NestJS has it. */
const JEST_CONFIG = {
  testEnvironment: 'node',
  cacheDirectory: join(project, 'cache'),
  transform: {
    '\\.ts$': [
      join(PACKAGES, 'ts-jest'),
      {
        compiler: 'typescript-5.9',
        tsconfig: { module: 'commonjs', target: 'es2022', isolatedModules: true },
      },
    ],
  },
};

const COMMONJS = `
import { createLimiter } from 'headgate';
import { ManualClock } from 'headgate/simulator';

async function main(): Promise<void> {
  const imported = await import('headgate');
  const isOne = imported.createLimiter === createLimiter;
  const answer: number = await createLimiter().run(() => 42);
  console.log(JSON.stringify({ isOne, answer, now: new ManualClock(7).now() }));
}
void main();
`;

const BOTH = `
import * as imported from 'headgate';
import { FeedbackSubject } from 'headgate';
import { createRequire } from 'node:module';
const required = createRequire(import.meta.url)('headgate');
const limiter = required.createLimiter();
limiter.close();
const error = await limiter.run(() => 1).catch((error) => error);
console.log(JSON.stringify({
  isOne: Object.keys(required).every((name) => required[name] === imported[name]),
  isKnown: error instanceof imported.LimiterClosedError,
  isSubject: new FeedbackSubject() instanceof required.FeedbackSubject,
}));
`;

const REQUIRING = "module.exports = require('headgate');\n";

const BUNDLED = `
import { createLimiter } from 'headgate';
import required from './requiring.cjs';
createLimiter().run(() => 42).then((answer) => {
  console.log(JSON.stringify({ isOne: required.createLimiter === createLimiter, answer }));
});
`;

const CLOCK = `
import { ManualClock } from 'headgate/simulator';
console.log(new ManualClock(7).now());
`;

beforeAll(() => {
  installPacked({
    packageFolder: inject('packageFolder'),
    project,
    manifest: { name: 'user', private: true },
    peers: PEERS.map((name) => join(PACKAGES, name)),
  });
  write('use.test.js', TESTED);
  write('typed.test.ts', TESTED_TYPESCRIPT);
  write('jest.config.json', JSON.stringify(JEST_CONFIG));
  write('commonjs.cts', COMMONJS);
  write('both.mjs', BOTH);
  write('requiring.cjs', REQUIRING);
  write('bundled.mjs', BUNDLED);
  write('clock.mjs', CLOCK);
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

function write(name: string, text: string): void {
  writeFileSync(join(project, name), text);
}

/** Runs Node in the project, and reads the JSON that it printed. */
function printed(node: string, ...args: string[]): unknown {
  return JSON.parse(execFileSync(node, args, { cwd: project, encoding: 'utf8' }));
}

describe.each(NODES)('the packed package with the Node of %s', (_, node) => {
  it('is loaded by Jest, from JavaScript and from TypeScript', () => {
    const args = [JEST, '--ci', '--runInBand'];
    const { status, stderr } = spawnSync(node, args, { cwd: project, encoding: 'utf8' });
    expect(stderr).toContain('Tests:       12 passed, 12 total');
    expect(status).toBe(0);
  });

  it('is loaded by tsx as CommonJS, and is one module', () => {
    expect(printed(node, TSX, 'commonjs.cts')).toEqual({ isOne: true, answer: 42, now: 7 });
  });

  it.each([
    { by: 'Node', args: [] },
    { by: 'tsx', args: [TSX] },
  ])('is one module where a program that $by runs imports and requires it', ({ args }) => {
    const expected = { isOne: true, isKnown: true, isSubject: true };
    expect(printed(node, ...args, 'both.mjs')).toEqual(expected);
  });
});

/** Writes a program, and all that it needs but the peers, into a file of CommonJS. */
const BUNDLERS = {
  esbuild: async (input: string, file: string) => {
    const options = [
      '--bundle',
      '--minify',
      '--platform=node',
      '--format=cjs',
      '--log-level=error',
    ];
    const peers = PEERS.map((name) => `--external:${name}`);
    execFileSync(ESBUILD, [input, ...options, ...peers, `--outfile=${file}`]);
  },
  rolldown: async (input: string, file: string) => {
    const bundle = await rolldown({ input, platform: 'node', external: PEERS });
    await bundle.write({ file, format: 'cjs', minify: true });
  },
};

describe.each(Object.entries(BUNDLERS))('a bundle in CommonJS of %s', (name, bundle) => {
  it('has the library once, whether it is imported or required', async () => {
    const file = join(project, `${name}.cjs`);
    await bundle(join(project, 'bundled.mjs'), file);
    expect(printed('node', file)).toEqual({ isOne: true, answer: 42 });
  });

  it('leaves out what is not used', async () => {
    const file = join(project, `${name}-clock.cjs`);
    await bundle(join(project, 'clock.mjs'), file);
    expect(printed('node', file)).toBe(7);
    expect(statSync(file).size).toBeLessThan(200_000);
  });
});

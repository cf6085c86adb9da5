import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createProvider, type ProviderServer, serve } from 'headgate/simulator';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { pagesIn } from '../docs/src/pages.ts';
import { examplesOf } from '../docs/src/render.ts';
import { canRun } from './dashboards/programs.ts';
import { PRINTS } from './docs/prints.ts';
import { type Redis, startRedis } from './support/redis.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const EXAMPLES = join(ROOT, 'docs/examples');
const FOLDER = join(inject('packageFolder'), 'readme');

/**
 * The examples of the README and of `docs/`: each is run against the package as it is published.
 */
const examples = readdirSync(EXAMPLES).sort();
const pages = pagesIn(ROOT);

/** Whoever is asked over HTTPS: the simulator answers. */
const REDIRECTION = `
const { fetch } = globalThis;
globalThis.fetch = (input, init) => {
  if (input instanceof Request) return fetch(input, init); // of axios, which knows the simulator
  return fetch(String(input).replace(/^https:\\/\\/[^/]+/, process.env.SIMULATOR), init);
};
`;

/** What SDKs want to have. */
const SETTINGS = {
  OPENAI_API_KEY: 'none',
  OPENAI_API_VERSION: '2024-10-21',
  AZURE_OPENAI_API_KEY: 'none',
  GEMINI_API_KEY: 'none',
  ANTHROPIC_API_KEY: 'none',
  AWS_ACCESS_KEY_ID: 'none',
  AWS_SECRET_ACCESS_KEY: 'none',
};

/** Examples that need a Redis. */
const NEED_REDIS: ReadonlySet<string> = new Set(['bullmq.ts', 'shared.ts']);
const runnable = examples.filter((name) => canRun('redis-server') || !NEED_REDIS.has(name));

/** Who sends by other ways than `fetch` is told where the simulator is. */
const addresses = (url: string) => ({
  SIMULATOR: url,
  AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url,
  MODEL_API: `${url}/v1`,
});

/** Examples that change all of their process. */
const ALONE: ReadonlySet<string> = new Set(['telemetry.ts']);

/** What came of an example; `error` is missing where it ended well. */
interface ExampleRun {
  readonly program: string;
  readonly stdout?: string;
  readonly error?: string;
}

let server: ProviderServer;
let redis: Redis | undefined;
/** By program. */
let runs: Promise<ReadonlyMap<string, ExampleRun>>;

/** Where an example is compiled: outside the package each file says itself that it is a module. */
function copyOf(example: string): string {
  return join(FOLDER, example.replace(/\.ts$/, '.mts'));
}

function programOf(example: string): string {
  return join(FOLDER, `${basename(example, extname(example))}.mjs`);
}

/** Runs examples in one process, one after the other. */
async function runTogether(list: readonly string[]): Promise<ExampleRun[]> {
  const runner = fileURLToPath(new URL('./docs/run-examples.mjs', import.meta.url));
  const args = ['--import', join(FOLDER, 'redirection.mjs'), runner, ...list.map(programOf)];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    // Each example has its own bound: this ends one that never lets go of the processor.
    timeout: 240_000,
    cwd: FOLDER,
    env: { ...process.env, ...SETTINGS, ...addresses(server.url), REDIS_URL: redis?.url },
  }).catch((error: { readonly stdout: string }) => error);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line));
}

async function runAll(): Promise<ReadonlyMap<string, ExampleRun>> {
  const together = runnable.filter((example) => !ALONE.has(example));
  const alone = runnable.filter((example) => ALONE.has(example));
  const all = await Promise.all([together, ...alone.map((example) => [example])].map(runTogether));
  return new Map(all.flat().map((run) => [run.program, run]));
}

beforeAll(async () => {
  server = await serve(createProvider());
  if (canRun('redis-server')) redis = await startRedis();
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  for (const example of examples) {
    writeFileSync(copyOf(example), readFileSync(join(EXAMPLES, example)));
  }
  writeFileSync(join(FOLDER, 'redirection.mjs'), REDIRECTION);
  writeFileSync(
    join(FOLDER, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'es2023',
        module: 'nodenext',
        strict: true,
        skipLibCheck: true,
        types: ['node'],
      },
      files: examples.filter((name) => name.endsWith('.ts')).map(copyOf),
    }),
  );
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  try {
    execFileSync(process.execPath, [tsc, '-p', FOLDER, '--singleThreaded'], { encoding: 'utf8' });
  } catch (error) {
    throw new Error(
      `an example does not compile:\n${(error as Error & { stdout: string }).stdout}`,
    );
  }
  runs = runAll();
});

afterAll(async () => {
  await server.close();
  await redis?.stop();
});

describe('the README and the documentation', () => {
  it.each(runnable)('example %s prints what it says', async (example) => {
    const { stdout = '', error } = (await runs).get(programOf(example)) ?? {
      error: 'it did not run',
    };
    expect(error, `the example printed:\n${stdout}`).toBeUndefined();
    const expected = PRINTS[example] ?? [];
    const lines = stdout.trim().split('\n');
    const missing = expected.filter((line) => !lines.some((one) => one.startsWith(line)));
    expect(missing, `the example printed:\n${stdout}`).toEqual([]);
    expect(expected.length).toBeGreaterThan(0);
  });

  it('have an example for each list of what is printed, and a page for each example', () => {
    expect(Object.keys(PRINTS).sort()).toEqual(examples);
    const shown = new Set(pages.flatMap(({ text }) => examplesOf(text)));
    expect([...shown].sort()).toEqual(examples);
  });

  it('show no code that is no example', () => {
    for (const { path, text } of pages) {
      const blocks = [...text.matchAll(/^```(?:js|ts|mjs|javascript|typescript)\n/gm)];
      expect([path, blocks.length]).toEqual([path, examplesOf(text).length]);
    }
  });

  it('name scripts that there are', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const shell = pages.flatMap(({ text }) => [...text.matchAll(/```sh\n([\s\S]*?)```/g)]);
    const used = shell.flatMap(([, block = '']) => [
      ...[...block.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name),
      ...[...block.matchAll(/npm (start|test)\b/g)].map(([, name = '']) => name),
    ]);
    expect(used.length).toBeGreaterThan(2);
    for (const name of used) expect(scripts).toHaveProperty([name]);
  });

  it('show JSON that is JSON', () => {
    const blocks = pages.flatMap(({ text }) => [...text.matchAll(/```json\n([\s\S]*?)```/g)]);
    expect(blocks.length).toBeGreaterThan(0);
    for (const [, block = ''] of blocks) expect(() => JSON.parse(block)).not.toThrow();
  });
});

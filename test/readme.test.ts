import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createProvider, type ProviderServer, serve } from 'headgate/simulator';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = join(inject('packageFolder'), 'readme');
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

const blocks = [...readme.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language, code]) => ({
  language: language ?? '',
  code: code ?? '',
}));

/** What the examples print, in their order. A block without a line here fails the test. */
const PRINTS = [
  ['An answer to: Count to three.', 'An answer to: Say hello.', 'An answer to: Name a colour.'],
  ['ant+bee', 'cat+dog', 'eel'],
  ['2', '4', '6'],
  ['job 1 0', 'job 3 1', 'job 5 2'],
  ['true true'],
  ['It says: '],
  ['hello 2'],
  ['normal', 'throttled', 'throttled'],
  ["[ { unit: 'requests', remaining: 7 } ]", 'failed 1'],
  ['four 4', 'failed: Error: empty prompt', 'eleven 6'],
  ['A', 'B', 'C', 'D', 'E', '0'],
  ['circuitOpened {"openMs":30000,"failures":2}', 'closed {}', 'drained {}'],
  ['large one', 'large two', 'small three', 'small four', 'large,small'],
  ['a', 'b'],
  ['Say hello. ', 'Name a colour. '],
  ['my-deployment 1', 'gemini-2.5-flash 1', 'qwen3 1'],
  ['Say hello. '],
  ['message_start', 'content_block_delta', 'message_stop'],
  ['1 0'],
  ['50 %', '100 %', '20 closed'],
  ['8 50', 'TypeError: `concurency` is no option of limiterOptionsFromJSON; did you mean'],
  ['40'],
  ['1'],
];

/** Whoever is asked over HTTPS: the simulator answers. */
const REDIRECTION = `
const { fetch } = globalThis;
globalThis.fetch = (input, init) =>
  fetch(String(input).replace(/^https:\\/\\/[^/]+/, process.env.SIMULATOR), init);
`;

/** What SDKs want to have. */
const SETTINGS = {
  OPENAI_API_KEY: 'none',
  OPENAI_API_VERSION: '2024-10-21',
  AZURE_OPENAI_API_KEY: 'none',
  GEMINI_API_KEY: 'none',
  ANTHROPIC_API_KEY: 'none',
};

let server: ProviderServer;

const programs = blocks.filter(({ language }) => language === 'js' || language === 'ts');

beforeAll(async () => {
  server = await serve(createProvider());
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  for (const [n, { language, code }] of programs.entries()) {
    writeFileSync(join(FOLDER, `block-${n}.${language === 'js' ? 'mjs' : 'mts'}`), code);
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
      files: programs.flatMap(({ language }, n) => (language === 'ts' ? [`block-${n}.mts`] : [])),
    }),
  );
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  try {
    execFileSync(process.execPath, [tsc, '-p', FOLDER], { encoding: 'utf8' });
  } catch (error) {
    throw new Error(
      `an example of the README does not compile:\n${(error as Error & { stdout: string }).stdout}`,
    );
  }
}, 60_000);

afterAll(() => server.close());

describe('the README', () => {
  it.each(programs.map((_, n) => n))('example %i prints what it says', async (n) => {
    const program = ['--import', join(FOLDER, 'redirection.mjs'), join(FOLDER, `block-${n}.mjs`)];
    const { stdout } = await promisify(execFile)(process.execPath, program, {
      timeout: 20_000,
      env: { ...process.env, ...SETTINGS, SIMULATOR: server.url },
    });
    const lines = stdout.trim().split('\n');
    for (const line of PRINTS[n] ?? []) {
      expect(lines.some((one) => one.startsWith(line))).toBe(true);
    }
    expect(PRINTS[n]).toBeDefined();
  });

  it('has an example for each list of what is printed', () => {
    expect(programs).toHaveLength(PRINTS.length);
  });

  it('names scripts that there are', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const shell = blocks.filter(({ language }) => language === 'sh').map(({ code }) => code);
    const used = [...shell.join('\n').matchAll(/npm (?:run )?(start|test|bench)\b/g)].map(
      ([, name]) => name ?? '',
    );
    expect(used.length).toBeGreaterThan(2);
    for (const name of used) expect(scripts[name]).toBeDefined();
  });
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, inject, it } from 'vitest';

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
  ['hello 2'],
  ['normal', 'throttled', 'throttled'],
  ["[ { unit: 'requests', remaining: 7 } ]", 'failed 1'],
  ['four 4', 'failed: Error: empty prompt', 'eleven 6'],
  ['A', 'B', 'C', 'D', 'E', '0'],
  ['circuitOpened {"openMs":30000,"failures":2}', 'closed {}', 'drained {}'],
  ['large one', 'large two', 'small three', 'small four', 'large,small'],
  ['a', 'b'],
  ['50 %', '100 %', '20 closed'],
  ['8 50', 'TypeError: `concurency` is no option of limiterOptionsFromJSON; did you mean'],
  ['40'],
  ['1'],
];

const programs = blocks.filter(({ language }) => language === 'js' || language === 'ts');

beforeAll(() => {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  for (const [n, { language, code }] of programs.entries()) {
    writeFileSync(join(FOLDER, `block-${n}.${language === 'js' ? 'mjs' : 'mts'}`), code);
  }
  writeFileSync(
    join(FOLDER, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'es2023',
        module: 'nodenext',
        strict: true,
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

describe('the README', () => {
  it.each(programs.map((_, n) => n))('example %i prints what it says', (n) => {
    const printed = execFileSync(process.execPath, [join(FOLDER, `block-${n}.mjs`)], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    const lines = printed.trim().split('\n');
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

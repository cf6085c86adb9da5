import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { closingLine } from './closing-line.ts';

const VITEST = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const REPORTER = fileURLToPath(new URL('closing-line.ts', import.meta.url));

/** Runs vitest on some files, and returns the last line of its output. */
function lastLineOf(...sources: readonly string[]): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-closing-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [index, source] of sources.entries()) {
    writeFileSync(join(folder, `${index}.test.ts`), source);
  }
  const args = ['run', '--globals', '--root', folder, '--reporter', 'default'];
  const { stdout } = spawnSync(process.execPath, [VITEST, ...args, '--reporter', REPORTER], {
    cwd: folder,
    encoding: 'utf8',
  });
  return stdout.trimEnd().split('\n').at(-1);
}

it('the last line of a run says what became of its tests, and of what failed beside them', () => {
  const tests = `
    it('passes', () => {});
    it('passes too', () => {});
    it('fails', () => { throw new Error('no'); });
    it.skip('is left out', () => {});
    it.todo('is to come');
  `;
  const hook =
    "describe('s', () => { beforeAll(() => { throw 1; }); it('never runs', () => {}); });";
  const file = "throw new Error('no file');";
  const stray = "it('passes', () => { void Promise.reject(new Error('stray')); });";
  expect(lastLineOf(tests, hook, file, stray)).toBe('3 passed, 4 failed, 3 skipped');
});

it('and no more, where none failed or was left out', () => {
  expect(closingLine({ passed: 1, failed: 0, skipped: 0 })).toBe('1 passed, 0 failed');
});

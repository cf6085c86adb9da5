import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

const project = mkdtempSync(join(tmpdir(), 'headgate-user-'));
const tarballs = join(project, 'tarballs');

function npm(args: string[], cwd: string): string {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Packs a folder; what is in the repository's node_modules needs no network. */
function pack(folder: string): { filename: string; files: string[] } {
  const [packed] = JSON.parse(
    npm(['pack', folder, '--json', '--ignore-scripts', '--pack-destination', tarballs], ROOT),
  );
  return {
    filename: join(tarballs, packed.filename.replace('@', '').replace('/', '-')),
    files: packed.files.map((file: { path: string }) => file.path),
  };
}

let files: string[] = [];

beforeAll(() => {
  mkdirSync(tarballs);
  const own = pack(inject('packageFolder'));
  files = own.files;
  const peers = ['rxjs', 'tslib', '@opentelemetry/api', '@types/node', 'undici-types'];
  const packed = peers.map((name) => pack(join(ROOT, 'node_modules', name)).filename);
  writeFileSync(
    join(project, 'package.json'),
    '{"name": "user", "private": true, "type": "module"}',
  );
  npm(['install', '--offline', '--no-audit', '--no-fund', own.filename, ...packed], project);
}, 60_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));

function write(name: string, text: string): void {
  writeFileSync(join(project, name), text);
}

const USE = `
import { from, lastValueFrom, toArray } from 'rxjs';
import { createLimiter, throttle } from 'headgate';
import { ManualClock } from 'headgate/simulator';

const lengths = await lastValueFrom(
  from(['a', 'bb']).pipe(throttle(async (word) => word.length, { concurrency: 1 }), toArray()),
);
const answer = await createLimiter().run(() => 42);
console.log(JSON.stringify({ lengths, answer, now: new ManualClock(7).now() }));
`;

const EXPECTED = { lengths: [1, 2], answer: 42, now: 7 };

describe('the packed package in an empty project', () => {
  it('holds what users need, and no more', () => {
    const folders = new Set(files.map((file) => file.split('/')[0]));
    expect([...folders].sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist',
      'package.json',
    ]);
    for (const ending of ['.js', '.js.map', '.d.ts']) {
      expect(files).toContain(`dist/index${ending}`);
    }
  });

  it('runs from JavaScript', () => {
    write('use.js', USE);
    const printed = execFileSync(process.execPath, ['use.js'], { cwd: project, encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual(EXPECTED);
  });

  it.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('has its types under module %s, resolution %s, and runs', (module, moduleResolution) => {
    const name = `use-${moduleResolution}`;
    write(`${name}.ts`, `${USE}export const typed: number[] = lengths;\n`);
    const flags = ['--strict', '--target', 'es2023', '--types', 'node', '--skipLibCheck', 'false'];
    const resolution = ['--module', module, '--moduleResolution', moduleResolution];
    const tsc = [TSC, ...flags, ...resolution, `${name}.ts`];
    try {
      execFileSync(process.execPath, tsc, { cwd: project, encoding: 'utf8' });
    } catch (error) {
      expect.fail((error as { stdout: string }).stdout);
    }
    const printed = execFileSync(process.execPath, [`${name}.js`], {
      cwd: project,
      encoding: 'utf8',
    });
    expect(JSON.parse(printed)).toEqual(EXPECTED);
  });

  it('has types that stand without those of Node', () => {
    write(
      'bare.ts',
      "import { createLimiter, throttle } from 'headgate';\nexport { createLimiter, throttle };\n",
    );
    const flags = [
      '--strict',
      '--noEmit',
      '--target',
      'es2022',
      '--types',
      '',
      '--skipLibCheck',
      'false',
    ];
    const tsc = [TSC, ...flags, '--module', 'nodenext', 'bare.ts'];
    try {
      execFileSync(process.execPath, tsc, { cwd: project, encoding: 'utf8' });
    } catch (error) {
      expect.fail((error as { stdout: string }).stdout);
    }
  });

  it('hides what is internal', () => {
    write('wrong.ts', "import { Ticket } from 'headgate';\nnew Ticket();\n");
    expect(() =>
      execFileSync(process.execPath, [TSC, '--noEmit', '--module', 'nodenext', 'wrong.ts'], {
        cwd: project,
        stdio: 'ignore',
      }),
    ).toThrow();
  });
});

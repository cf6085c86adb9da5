import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { pagesIn } from '../docs/src/pages.ts';
import { linksOf } from './docs/markdown.ts';
import { installPacked } from './support/packed.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

const project = mkdtempSync(join(tmpdir(), 'headgate-user-'));

let files: string[] = [];

/** Installs the packed package; its peers, of the repository's node_modules, need no network. */
beforeAll(() => {
  const peers = ['rxjs', '@opentelemetry/api', '@types/node'];
  files = installPacked({
    packageFolder: inject('packageFolder'),
    project,
    manifest: { name: 'user', private: true, type: 'module' },
    peers: peers.map((name) => join(ROOT, 'node_modules', name)),
  });
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

function write(name: string, text: string): void {
  writeFileSync(join(project, name), text);
}

/** Runs Node in the project; what it printed. */
function run(...args: string[]): string {
  return execFileSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
}

/** Fails with what the compiler says, if it says anything. */
function compile(...args: string[]): void {
  try {
    run(TSC, '--singleThreaded', ...args);
  } catch (error) {
    expect.fail((error as { stdout: string }).stdout);
  }
}

const USE = `
import { from, lastValueFrom, toArray } from 'rxjs';
import { createLimiter, throttle } from 'headgate';
import { answerText } from 'headgate/batch';
import { ManualClock } from 'headgate/simulator';

const lengths = await lastValueFrom(
  from(['a', 'bb']).pipe(throttle(async (word) => word.length, { concurrency: 1 }), toArray()),
);
const answer = await createLimiter().run(() => 42);
const text = answerText({ choices: [{ message: { content: 'yes' } }] });
console.log(JSON.stringify({ lengths, answer, text, now: new ManualClock(7).now() }));
`;

const USE_COMMONJS = `
import { from, lastValueFrom, toArray } from 'rxjs';
import { createLimiter, throttle } from 'headgate';
import { classify } from 'headgate/advanced';
import { ManualClock } from 'headgate/simulator';
import type { Telemetry } from 'headgate/telemetry';

export type Both = [Telemetry, typeof classify];
async function main(): Promise<void> {
  const lengths: number[] = await lastValueFrom(
    from(['a', 'bb']).pipe(throttle(async (word) => word.length, { concurrency: 1 }), toArray()),
  );
  const answer: number = await createLimiter().run(() => 42);
  console.log(JSON.stringify({ lengths, answer, now: new ManualClock(7).now() }));
}
void main();
`;

/** What a library exports without types of its own: the compiler must find names for all of them. */
const LIBRARY = `
import { concurrencyLimit, createLimiter, createLimiterGroup, throttle } from 'headgate';
import type { Limiter, LimiterGroup, LimiterGroupOptions, LimiterOptions } from 'headgate';
import type { CircuitSnapshot, Instrumentation, SharedStore } from 'headgate/advanced';
import type { AdaptiveRateSnapshot, LimiterLayer } from 'headgate/advanced';
import type { BatchProgress, BatchResponse } from 'headgate/batch';

export const makeLimiter = () => createLimiter();
export const makeGroup = () => createLimiterGroup((word: string) => word);
export const operator = throttle(async (word: string) => word.length, { outcomes: true });
export const { fetch, throttle: through, events$, recordSuccess } = makeLimiter();
export const { map, snapshot } = makeGroup();
export const state = ({ paused, outage, suspended }: ReturnType<Limiter['snapshot']>) =>
  ({ paused, outage, suspended });
export const learned = ({ tokens }: AdaptiveRateSnapshot) => tokens;
export const ended = ({ recent }: CircuitSnapshot) => recent;
export const limiterOption = ({ onLongWait }: LimiterOptions) => onLongWait;
export const layer = ({ adaptive }: LimiterLayer) => adaptive;
export const groupOption = ({ each }: LimiterGroupOptions) => each;
export const mapOptions = (options: Parameters<LimiterGroup<string>['map']>[2]) => options;
export const gateOptions = (options: Parameters<typeof concurrencyLimit>[0]) => options;
export const join = ({ join }: SharedStore) => join;
export const admitted = ({ admitted }: Instrumentation) => admitted;
export const workers = ({ workers }: BatchProgress) => workers;
export const sent = ({ sent }: BatchResponse) => sent;
`;

const EXPECTED = { lengths: [1, 2], answer: 42, text: 'yes', now: 7 };
const EXPECTED_COMMONJS = { lengths: [1, 2], answer: 42, now: 7 };

describe('the packed package in an empty project', () => {
  it('holds what users need, and no more', () => {
    const folders = new Set(files.map((file) => file.split('/')[0]));
    expect([...folders].sort()).toEqual([
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'bench',
      'dashboards',
      'dist',
      'docs',
      'package.json',
      'test',
    ]);
    const docs = pagesIn(ROOT).map(({ path }) => path);
    const pages = files.filter((file) => file.startsWith('docs/') && file.endsWith('.md'));
    expect(pages.sort()).toEqual(docs.filter((path) => path.startsWith('docs/')).sort());
    // Of other folders only the pages that those of docs/ lead to.
    const others = files.filter((file) => /^(bench|dashboards|test)\//.test(file));
    expect(others.filter((file) => !file.endsWith('/README.md'))).toEqual([]);
    for (const ending of ['.js', '.cjs', '.mjs', '.d.ts', '.d.cts']) {
      expect(files).toContain(`dist/index${ending}`);
    }
  });

  it('holds whatever its pages lead to', () => {
    const held = new Set(files);
    const dead = files
      .filter((file) => file.endsWith('.md'))
      .flatMap((page) =>
        linksOf(readFileSync(join(ROOT, page), 'utf8')).flatMap((link) => {
          const [file = ''] = link.split('#');
          const isOutside = file === '' || /^[a-z]+:/.test(file);
          const isHeld = held.has(posix.join(posix.dirname(page), file));
          return isOutside || isHeld ? [] : [`${page}: ${link}`];
        }),
      );
    expect(dead).toEqual([]);
  });

  it('runs from JavaScript', () => {
    write('use.js', USE);
    expect(JSON.parse(run('use.js'))).toEqual(EXPECTED);
  });

  it.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('has its types under module %s, resolution %s, and runs', (module, moduleResolution) => {
    const name = `use-${moduleResolution}`;
    write(`${name}.ts`, `${USE}export const typed: number[] = lengths;\n`);
    const flags = ['--strict', '--target', 'es2023', '--types', 'node', '--skipLibCheck', 'false'];
    compile(...flags, '--module', module, '--moduleResolution', moduleResolution, `${name}.ts`);
    expect(JSON.parse(run(`${name}.js`))).toEqual(EXPECTED);
  });

  it('has its types in CommonJS, and runs', () => {
    write('use-cjs.cts', USE_COMMONJS);
    const flags = ['--strict', '--target', 'es2023', '--types', 'node', '--skipLibCheck', 'false'];
    compile(...flags, '--module', 'node16', 'use-cjs.cts');
    expect(JSON.parse(run('use-cjs.cjs'))).toEqual(EXPECTED_COMMONJS);
  });

  it('lets a library declare what it exports', () => {
    write('library.ts', LIBRARY);
    const flags = ['--strict', '--target', 'es2023', '--types', 'node', '--module', 'nodenext'];
    compile(...flags, '--declaration', '--emitDeclarationOnly', 'library.ts');
    expect(readFileSync(join(project, 'library.d.ts'), 'utf8')).not.toMatch(/headgate\/dist/);
  });

  it('is one module, whether it is required or imported', () => {
    write(
      'both.mjs',
      `
      import { createRequire } from 'node:module';
      import * as headgate from 'headgate';
      const require = createRequire(import.meta.url);
      const entries = Object.keys(require('headgate/package.json').exports);
      const differing = [];
      for (const entry of entries.filter((path) => !path.endsWith('.json'))) {
        const name = entry.replace('.', 'headgate');
        const [imported, required] = [await import(name), require(name)];
        const names = new Set([...Object.keys(imported), ...Object.keys(required)]);
        for (const each of names) if (imported[each] !== required[each]) differing.push(name + each);
      }
      const limiter = require('headgate').createLimiter();
      limiter.close();
      const error = await limiter.run(() => 1).catch((error) => error);
      const isKnown = error instanceof headgate.LimiterClosedError;
      console.log(JSON.stringify({ entries: entries.length, differing, isKnown }));
      `,
    );
    expect(JSON.parse(run('both.mjs'))).toEqual({ entries: 10, differing: [], isKnown: true });
  });

  it('can be required without a warning', () => {
    write('required.cjs', "require('headgate/simulator');\n");
    const { status, stderr } = spawnSync(process.execPath, ['required.cjs'], {
      cwd: project,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('names source files and their lines where source maps are on', () => {
    write(
      'wrong-option.mjs',
      `
      import { throttle } from 'headgate';
      try {
        throttle(() => [], { concurrency: 0 });
      } catch ({ stack }) {
        console.log(stack);
      }
      `,
    );
    const stack = run('--enable-source-maps', 'wrong-option.mjs');
    expect(stack).toMatch(/at checkInteger \(.*\/src\/util\/check\.ts:\d+:\d+\)/);
  });

  it('has a command, with the licences of what is in it', () => {
    const headgate = join(project, 'node_modules/.bin/headgate');
    const help = execFileSync(headgate, ['run', '--help'], { cwd: project, encoding: 'utf8' });
    expect(help).toContain('--max-cost <AMOUNT>');
    expect(files).toContain('dist/batch/LICENSES.txt');
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
    compile(...flags, '--module', 'nodenext', 'bare.ts');
  });

  it('takes undefined for an option that is not given, whatever the project says of that', () => {
    write(
      'exact.ts',
      `
      import { createLimiter, throttle, type RateLimit } from 'headgate';
      import { serve, createProvider } from 'headgate/simulator';
      declare const one: { concurrency: number | undefined; classify: undefined };
      declare const requests: RateLimit & { burst: number | undefined };
      export const limiter = createLimiter({ ...one, limits: { requests }, pace: { jitter: undefined } });
      export const operator = throttle(async (n: number) => n, { ...one, outcomes: undefined });
      void serve(createProvider({ clock: undefined }), { port: undefined });
      `,
    );
    const flags = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--target', 'es2023'];
    compile(...flags, '--types', 'node', '--module', 'nodenext', 'exact.ts');
  });

  it('says which option is wrong, and hides what is internal', () => {
    const calls = ['throttle', 'createLimiter().throttle', 'dispatch'];
    const files = calls.map((call, index) => {
      write(
        `wrong-option-${index}.ts`,
        `
        import { createLimiter, dispatch, throttle } from 'headgate';
        void [createLimiter, dispatch, throttle];
        ${call}(async () => 1, { orderd: true });
        ${call}(async () => 1, { ordered: 'yes' });
        export {};
        `,
      );
      return `wrong-option-${index}.ts`;
    });
    write('internal.ts', "import { Ticket } from 'headgate';\nnew Ticket();\n");
    const flags = [
      '--singleThreaded',
      '--strict',
      '--noEmit',
      '--target',
      'es2023',
      '--module',
      'nodenext',
    ];
    // In one go: to read the types takes longer than what is done with them.
    const { stdout } = spawnSync(process.execPath, [TSC, ...flags, ...files, 'internal.ts'], {
      cwd: project,
      encoding: 'utf8',
    });
    const said = (file: string) => stdout.split('\n').filter((line) => line.startsWith(file));
    for (const [index, file] of files.entries()) {
      const errors = said(file).join('\n');
      expect(errors, calls[index]).toContain("'orderd' does not exist");
      expect(errors, calls[index]).toContain("'string' is not assignable to type 'boolean");
    }
    expect(stdout).not.toContain('No overload');
    expect(said('internal.ts').join()).toContain('Ticket');
  });
});

it('the processes of a node:cluster have an inspector each', () => {
  write(
    'cluster.mjs',
    `
    import cluster from 'node:cluster';
    import { startInspector } from 'headgate/inspector';
    if (cluster.isPrimary) {
      const urls = [];
      const [first, second] = [cluster.fork(), cluster.fork()];
      for (const worker of [first, second]) {
        worker.once('message', (url) => {
          urls.push(url);
          if (urls.length < 2) return;
          console.log(new Set(urls).size);
          for (const each of [first, second]) each.process.kill();
        });
      }
    } else {
      // A cluster gives the same free port to all of its processes that share one.
      const { url } = await startInspector({ port: 0 });
      process.send(url);
    }
    `,
  );
  expect(run('cluster.mjs')).toBe('2\n');
});

it('the inspector warns of SDKs that retry, until it is closed', () => {
  write(
    'retries.mjs',
    `
import { channel } from 'node:diagnostics_channel';
import { startInspector } from 'headgate/inspector';
process.on('warning', ({ message }) => console.log(message));
/** A request as Node publishes it. */
const publish = (origin) =>
  channel('undici:request:create').publish({
    request: { origin, headers: ['x-stainless-retry-count', '1'] },
  });
const inspector = await startInspector({ port: 0 });
publish('http://watched');
await inspector.close();
publish('http://later');
`,
  );
  const said = run('--no-warnings', 'retries.mjs');
  expect(said).toContain('has sent a request to http://watched again');
  expect(said).not.toContain('http://later');
});

it('startTelemetry says what to install where its packages are missing', () => {
  const program = `
    import { startTelemetry } from 'headgate/telemetry';
    await startTelemetry({ serviceName: 'x' }).catch(({ message }) => console.log(message));
  `;
  const printed = run('--input-type=module', '-e', program);
  expect(printed).toMatch(
    /^startTelemetry needs packages that are not installed: npm install @opentelemetry\/api@1.9 @opentelemetry\/sdk-node /,
  );
});

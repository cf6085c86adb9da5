import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { canRun } from './test/dashboards/programs.ts';
import LongestFirst from './test/support/longest-first.ts';
import { isLong, LONG_MS } from './test/support/runs.ts';
import { sourceFrame } from './test/support/source-frame.ts';

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

/** A folder with the tests as `tools/compile-tests.js` compiles them. Default: their sources are run. */
const { TEST_FOLDER } = process.env;

/** The files that are run, where these are the sources. */
const run = (sources: readonly string[]) =>
  sources.map((file) => (TEST_FOLDER === undefined ? file : file.replace(/\.ts$/, '.js')));

/** What runs the package as it is published, and the programs: they are compiled first. */
const COMPILED = run([
  'test/{package,readme,size}.test.ts',
  'test/examples/{batch,jaeger,limited,otlp,signals,watch}.test.ts',
  'test/batch/command/**/*.test.ts',
]);

/** What runs it beside Redis, nginx, HAProxy, Prometheus or Chromium, in real time and for long. */
const PROGRAMS = run([
  'test/bullmq/processes.test.ts',
  'test/examples/dashboards.test.ts',
  'test/fleet/processes/*.test.ts',
  'test/batch/command/{servers,workers}.test.ts',
  'test/inspector/page*.test.ts',
]);

/**
 * What measures real servers. One process holds their clients and back ends, so that the load of
 * other tests would make their connections time out.
 */
const SERVERS = run(['test/bench-servers/real.test.ts']);

/** Tests of memory, or of all tickets, limiters, listeners or servers of a process: each has a process of its own. */
const ALONE = run([
  'test/behaviour/queue/{fifo-memory,queue/scale}.test.ts',
  'test/behaviour/limiter/{fetch-signal,fetch-unread,group-idle,group-memory,waiting-memory}.test.ts',
  'test/fleet/memory-store.test.ts',
  'test/behaviour/providers/aborted-bodies.test.ts',
  // Its warning comes once in a process.
  'test/behaviour/request/returned-stream.test.ts',
  'test/behaviour/telemetry/growth.test.ts',
  'test/laws/{laws,found}.test.ts',
  'test/inspector/{fleet-watch,monitor,security}.test.ts',
  'test/soak/**/*.test.ts',
]);

/** More than can compute at once: many wait for processes and for real time. */
const WORKERS = availableParallelism() + 4;

/** What needs a program that is not here. */
const LEFT_OUT = run([
  ...(canRun('jaeger') ? [] : ['test/examples/jaeger.test.ts']),
  ...(canRun('chromium') ? [] : ['test/inspector/page*.test.ts']),
]);

export default defineConfig({
  resolve: {
    alias: [
      { find: /^headgate\/advanced$/, replacement: source('advanced.ts') },
      { find: /^headgate\/ai$/, replacement: source('ai/index.ts') },
      { find: /^headgate\/batch$/, replacement: source('batch/index.ts') },
      { find: /^headgate\/bullmq$/, replacement: source('bullmq/index.ts') },
      { find: /^headgate\/inspector$/, replacement: source('inspector/index.ts') },
      { find: /^headgate\/redis$/, replacement: source('redis/index.ts') },
      { find: /^headgate\/simulator$/, replacement: source('simulator/index.ts') },
      { find: /^headgate\/telemetry$/, replacement: source('telemetry/node.ts') },
      { find: /^headgate$/, replacement: source('index.ts') },
    ],
  },
  test: {
    ...(TEST_FOLDER !== undefined && {
      root: TEST_FOLDER,
      experimental: { viteModuleRunner: false, nodeLoader: false },
      onStackTrace: sourceFrame,
    }),
    // Where nobody watches, a line for each file says nothing that its failures do not.
    reporters: [process.env.CI ? 'dot' : 'default', ...run(['./test/support/closing-line.ts'])],
    maxWorkers: WORKERS,
    sequence: { sequencer: LongestFirst },
    // Nothing here is timed: a busy machine must not fail a test. This only ends a hang.
    testTimeout: isLong ? LONG_MS : 300_000,
    hookTimeout: 300_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'library',
          include: run(['test/**/*.test.ts']),
          exclude: [
            ...configDefaults.exclude,
            ...COMPILED,
            ...PROGRAMS,
            ...SERVERS,
            ...ALONE,
            'test/compat/**',
          ],
          setupFiles: run(['test/support/setup.ts']),
          // To load the library anew for each file takes longer than most of them.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ALONE,
          setupFiles: run(['test/support/setup.ts']),
        },
      },
      {
        extends: true,
        test: {
          name: 'compiled',
          // These files start programs: no file changes what the next one needs of this process.
          isolate: false,
          include: COMPILED,
          exclude: [...configDefaults.exclude, ...PROGRAMS, ...LEFT_OUT],
          globalSetup: run(['test/support/build.ts']),
        },
      },
      {
        extends: true,
        test: {
          name: 'programs',
          isolate: false,
          include: PROGRAMS,
          exclude: [...configDefaults.exclude, ...LEFT_OUT],
          globalSetup: run(['test/support/build.ts']),
        },
      },
      {
        extends: true,
        test: {
          name: 'programs-alone',
          include: SERVERS,
          globalSetup: run(['test/support/build.ts']),
          // It begins when all other files have ended.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

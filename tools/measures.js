/**
 * Prints measures of the code: `npm run measures`. The files of one request are those whose
 * functions ran between subscribe and result, including a 429 and its retry, according to V8's
 * coverage. The size of a bundle that contains the package is shown by folder of `src`.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { withoutDocumentation } from './without-documentation.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiled = join(root, 'build/measures');
const flags = ['--outDir', compiled, '--declaration', 'false', '--emitDeclarationOnly', 'false'];
const tsc = join(root, 'node_modules/typescript/bin/tsc');
execFileSync(process.execPath, [
  tsc,
  '-p',
  join(root, 'tsconfig.build.json'),
  '--noEmit',
  'false',
  ...flags,
]);
const library = await import(pathToFileURL(join(compiled, 'index.js')).href);
const { ManualClock } = await import(pathToFileURL(join(compiled, 'simulator/index.js')).href);
const { Subject } = await import('rxjs');

/** The source files with a function that ran during `act`. */
async function filesOf(act) {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await act();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  return result
    .filter(({ url }) => url.startsWith(pathToFileURL(compiled).href))
    .filter(({ functions }) => functions.some(({ ranges }) => ranges[0].count > 0))
    .map(({ url }) => relative(compiled, fileURLToPath(url)).replace(/\.js$/, '.ts'))
    .sort();
}

/** A provider that rejects the first attempt of a request with a 429. */
function rejectsOnce() {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls === 1) throw Object.assign(new Error('too many requests'), { status: 429 });
    return 'answer';
  };
}

/** Advances virtual time until the result has arrived. */
async function until(clock, isDone) {
  for (let step = 0; !isDone() && step < 10_000; step += 1) {
    await Promise.resolve();
    if (step % 10 === 9) clock.advance(100);
  }
  if (!isDone()) throw new Error('the request did not end');
}

/** The files that run when a stream is opened, and those that run for its first request. */
async function streamFiles() {
  const clock = new ManualClock();
  const operator = library.throttle(rejectsOnce(), { clock });
  const source = new Subject();
  let result;
  const opening = await filesOf(async () => {
    source.pipe(operator).subscribe((value) => {
      result = value;
    });
  });
  const request = await filesOf(async () => {
    source.next('prompt');
    await until(clock, () => result !== undefined);
  });
  return { all: [...new Set([...opening, ...request])].sort(), request };
}

async function callFiles() {
  const clock = new ManualClock();
  const limiter = library.createLimiter({ clock });
  const send = rejectsOnce();
  let result;
  const files = await filesOf(async () => {
    limiter.run(send).then((value) => {
      result = value;
    });
    await until(clock, () => result !== undefined);
  });
  limiter.close();
  return files;
}

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => ({
    path,
    lines: readFileSync(join(root, 'src', path), 'utf8').split('\n').length - 1,
  }));
const total = (files) => files.reduce((sum, { lines }) => sum + lines, 0);
const ownSources = sources.filter(({ path }) => !/^(batch|simulator|inspector)\//.test(path));
const withTest = ownSources.filter(({ path }) =>
  existsSync(join(root, 'test', path.replace(/\.tsx?$/, '.test.ts'))),
);
const long = sources.filter(({ lines }) => lines > 200).sort((a, b) => b.lines - a.lines);

const stream = await streamFiles();
const call = await callFiles();
const show = process.argv.includes('--files');
console.log(`files of src                          ${sources.length} (${total(sources)} lines)`);
console.log(
  `  without batch, simulator, inspector ${ownSources.length} (${total(ownSources)} lines)`,
);
console.log(`  of these with a test of their name  ${withTest.length}`);
console.log(`files above 200 lines                 ${long.length}`);
for (const { path, lines } of long) console.log(`  ${String(lines).padStart(4)} ${path}`);
console.log(
  'files that one request runs through, a 429 included: its way, and all with their details',
);
print('throttle()', stream.all);
print('throttle(), after it is open', stream.request);
print('limiter.run', call);

/** The folders on the path of a request. The code of other folders is called from there. */
function print(name, files) {
  const way = files.filter((path) => /^(operators|limiter|request|queue)\//.test(path));
  console.log(`  ${name.padEnd(36)}${way.length}, ${files.length}`);
  if (show) for (const path of files) console.log(`    ${path}`);
}

console.log(
  'bundle of throttle(), minified and compressed, in bytes; by room, before it is minified',
);
const { bytes, gzipped, rooms } = await bundleOf(
  "import { throttle } from 'headgate';\nthrottle(fetch);",
);
console.log(`  all                                 ${bytes}, ${gzipped}`);
for (const [room, length] of rooms) console.log(`  ${room.padEnd(36)}${length}`);

/** The size of the package in a program's bundle, without peer dependencies. */
async function bundleOf(code) {
  const source = join(root, 'src');
  const program = {
    name: 'program',
    resolveId: (id) => (id === 'program' ? id : null),
    load: (id) => (id === 'program' ? code : null),
  };
  const bundle = await rolldown({
    cwd: root,
    input: 'program',
    external: [/^node:/, /^rxjs/, /^@opentelemetry\//],
    platform: 'neutral',
    resolve: { alias: { headgate: join(source, 'index.ts') } },
    tsconfig: join(root, 'tsconfig.json'),
    plugins: [program, withoutDocumentation()],
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  const chunks = output.filter(({ type }) => type === 'chunk');
  const text = chunks.map((chunk) => chunk.code).join('');
  const byRoom = new Map();
  for (const [id, { renderedLength }] of chunks.flatMap((chunk) => Object.entries(chunk.modules))) {
    const path = relative(source, id);
    if (path.startsWith('..') || id === 'program') continue;
    const room = /^policies\/(adaptive-rate|rate-limit)/.exec(path)?.[0] ?? path.split('/')[0];
    byRoom.set(room, (byRoom.get(room) ?? 0) + renderedLength);
  }
  return {
    bytes: Buffer.byteLength(text),
    gzipped: gzipSync(text).length,
    rooms: [...byRoom].sort(([, one], [, other]) => other - one),
  };
}

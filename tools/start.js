/**
 * `npm start`: bundles the library and the demo, and runs the demo. It does not check types,
 * so that the demo's first line appears within seconds.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const demo = join(root, 'build/examples/start.js');

console.error('Building headgate …');
execFileSync(process.execPath, [join(root, 'tools/build.js'), '--code'], { stdio: 'inherit' });
const bundle = await rolldown({
  cwd: root,
  input: 'examples/start.ts',
  external: [/^node:/, /^headgate/],
  platform: 'node',
  tsconfig: false,
});
await bundle.write({ file: demo, format: 'esm' });
await import(pathToFileURL(demo).href);

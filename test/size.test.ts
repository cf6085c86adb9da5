import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { expect, inject, it } from 'vitest';

/** Minified bytes of what a program's bundle holds of the package, peers left out. */
async function bundled(code: string): Promise<{ bytes: number; gzipped: number }> {
  const bundle = await rolldown({
    input: 'program',
    external: [/^node:/, /^rxjs/, /^@opentelemetry\//],
    platform: 'neutral',
    resolve: { alias: { headgate: join(inject('packageFolder'), 'dist/index.js') } },
    plugins: [
      {
        name: 'program',
        resolveId: (id) => (id === 'program' ? id : null),
        load: (id) => (id === 'program' ? code : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  const text = output.map((file) => (file.type === 'chunk' ? file.code : '')).join('');
  return { bytes: Buffer.byteLength(text), gzipped: gzipSync(text).length };
}

it('`throttle` alone costs a bundle at most 271.7 kB, 88.9 kB compressed', async () => {
  const { bytes, gzipped } = await bundled(
    "import { throttle } from 'headgate';\nthrottle(fetch);",
  );
  expect(bytes).toBeLessThanOrEqual(271_700);
  expect(gzipped).toBeLessThanOrEqual(88_900);
});

it('what is imported and not used costs nothing', async () => {
  expect((await bundled("import * as headgate from 'headgate';")).bytes).toBeLessThan(500);
});

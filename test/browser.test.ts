import { runInNewContext } from 'node:vm';
import { rolldown } from 'rolldown';
import { expect, it } from 'vitest';

/** What browsers have and Node's new contexts lack: neither `process`, `Buffer` nor `require`. */
const GLOBALS = {
  AbortController,
  AbortSignal,
  Blob,
  clearTimeout,
  console,
  DOMException,
  Headers,
  performance,
  queueMicrotask,
  Request,
  Response,
  setTimeout,
  TextDecoder,
  TextEncoder,
  URL,
};

const PAGE = `
import { createLimiter, throttle, byteEstimate } from './index.ts';
import { firstValueFrom, lastValueFrom, of, toArray } from 'rxjs';
globalThis.headgate = (async () => {
  const sizes = await lastValueFrom(
    of('é', new String('ab'), new Uint8Array(3), new ArrayBuffer(4), { text: 'é' }).pipe(
      byteEstimate(),
      toArray(),
    ),
  );
  const limiter = createLimiter({ limits: { bytes: { limit: 1_000, windowMs: 1_000 } } });
  const answer = await limiter.run(async () => new Response('yes'), { bytes: 2 });
  const word = await firstValueFrom(of('é').pipe(throttle(async (text) => text)));
  return [sizes.map(({ bytes }) => bytes).join(), await answer.text(), word].join(' ');
})();
`;

it('a bundle of headgate runs in a browser: it imports nothing from Node', async () => {
  const page = 'src/page.ts';
  const bundle = await rolldown({
    input: page,
    platform: 'browser',
    tsconfig: false,
    plugins: [
      {
        name: 'page',
        resolveId: (id) => (id === page ? `${process.cwd()}/${page}` : undefined),
        load: (id) => (id === `${process.cwd()}/${page}` ? PAGE : undefined),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'iife' });
  expect(output[0].imports).toEqual([]);
  const global: Record<string, unknown> = { ...GLOBALS };
  runInNewContext(output[0].code, global);
  expect(await global.headgate).toBe('2,4,3,4,13 yes é');
});

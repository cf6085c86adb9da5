import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createLimiter, type Limiter } from '../../src/index.ts';
import { expectIdle } from './harness.ts';
import { type Answer, closing, serve, status, tooManyNow } from './server.ts';

/** Bytes that are held when the server is asked. */
function heldBy(limiter: Limiter, answer: Answer) {
  const held: number[] = [];
  const noting: Answer = (...asked) => {
    held.push(limiter.snapshot().byteBudget.used);
    answer(...asked);
  };
  return { held, noting };
}

describe('limiter.fetch', () => {
  it('retries a request that got a 429, and returns the next response', async () => {
    const { seen, url } = await serve(tooManyNow, tooManyNow, status(200, { 'x-mine': 'yes' }));
    const limiter = createLimiter({ adaptive: false });
    const response = await limiter.fetch(url, { method: 'POST', body: 'hello' });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-mine')).toBe('yes');
    expect(await response.text()).toBe('200 hello');
    expect(seen.map(({ method, body }) => [method, body])).toEqual(
      Array(3).fill(['POST', 'hello']),
    );
    expect(limiter.feedback.epoch).toBeGreaterThan(0);
    expectIdle(limiter);
  });

  it('returns the last response unread if it is not retried', async () => {
    const { seen, url } = await serve(tooManyNow);
    const limiter = createLimiter({ maxAttempts: 2 });
    const response = await limiter.fetch(new URL(url));
    expect(response.status).toBe(429);
    expect(await response.text()).toBe('429 ');
    expect(seen).toHaveLength(2);
    const refused = await serve(status(404));
    expect((await limiter.fetch(refused.url)).status).toBe(404);
    expect(refused.seen).toHaveLength(1);
  });

  it.each([[undefined], ['gzip']])(
    'ends an aborted body that has arrived and is longer than what is read ahead (%s)',
    async (encoding) => {
      const bytes = randomBytes(300_000);
      const { url } = await serve((_request, response) => {
        if (encoding) response.setHeader('content-encoding', encoding);
        response.end(encoding ? gzipSync(bytes) : bytes);
      });
      const limiter = createLimiter({ adaptive: false });
      const controller = new AbortController();
      const response = await limiter.fetch(url, { signal: controller.signal });
      // The whole body arrives from a real server.
      await new Promise((resolve) => setTimeout(resolve, 100));
      controller.abort();
      await expect(response.text()).rejects.toThrow('aborted');
      expectIdle(limiter);
    },
    5_000,
  );

  it.each([['text'], ['arrayBuffer']] as const)(
    'ends the body of an error that still arrives when the signal aborts (%s)',
    async (reader) => {
      // Of an unread body this long, the limiter has read the beginning.
      const { url } = await serve((_request, response) => {
        response.writeHead(400, { 'content-type': 'application/json' }).write('x'.repeat(100_000));
      });
      const limiter = createLimiter({ adaptive: false });
      const controller = new AbortController();
      const response = await limiter.fetch(url, { signal: controller.signal });
      expect([response.status, response.url]).toEqual([400, url]);
      controller.abort(new Error('no longer needed'));
      await expect(response[reader]()).rejects.toThrow('no longer needed');
      expectIdle(limiter);
    },
  );

  it('sends a Request without its signal if the call removes that', async () => {
    const { url } = await serve(status(200));
    const request = new Request(url, { signal: AbortSignal.abort() });
    const limiter = createLimiter({ adaptive: false });
    const response = await limiter.fetch(request, { signal: null });
    expect(await response.text()).toBe('200 ');
  });

  it('rejects as fetch does if there is no response', async () => {
    const { url, server } = await serve(status(200));
    closing.pop();
    await new Promise((resolve) => server.close(resolve));
    const limiter = createLimiter({ maxAttempts: 1 });
    await expect(limiter.fetch(url)).rejects.toThrow('fetch failed');
    await expect(limiter.fetch('no address')).rejects.toThrow(TypeError);
    expectIdle(limiter);
  });

  it('takes Request objects, with what is in them, and sends them again', async () => {
    const { seen, url } = await serve(tooManyNow, status(201));
    const limiter = createLimiter();
    const request = new Request(url, {
      method: 'PUT',
      body: 'of the request',
      headers: { 'x-key': 'k' },
    });
    const response = await limiter.fetch(request, { headers: { 'x-key': 'l' } });
    expect(await response.text()).toBe('201 of the request');
    expect(seen).toMatchObject(
      Array(2).fill({ method: 'PUT', body: 'of the request', headers: { 'x-key': 'l' } }),
    );
  });

  it.each([
    ['a string', 'héllo', 6],
    ['bytes', new Uint8Array(7), 7],
    ['a buffer', new ArrayBuffer(9), 9],
    ['a blob', new Blob(['four', 'teen']), 8],
    ['a form', new URLSearchParams({ a: 'b' }), 0],
    ['nothing', null, 0],
  ])('uses the size of its body as bytes: %s', async (_name, body, bytes) => {
    const limiter = createLimiter();
    const { held, noting } = heldBy(limiter, status(200));
    const { url } = await serve(noting);
    const response = await limiter.fetch(url, { method: 'POST', body });
    await response.text();
    expect(held).toEqual([bytes]);
    expectIdle(limiter);
  });

  const stream = () => new Blob(['once']).stream();
  async function* parts() {
    yield new TextEncoder().encode('on');
    yield new TextEncoder().encode('ce');
  }
  it.each([
    ['a stream', stream],
    ['an async iterable', parts],
  ])('sends %s once: it can be read once', async (_name, make) => {
    const { seen, url } = await serve(tooManyNow, status(200));
    const limiter = createLimiter();
    const init = { method: 'POST', body: make(), duplex: 'half' } as unknown as RequestInit;
    const response = await limiter.fetch(url, init);
    expect(response.status).toBe(429);
    expect(seen.map(({ body }) => body)).toEqual(['once']);
    expectIdle(limiter);
  });
});

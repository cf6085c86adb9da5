import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createLimiter, type Limiter } from '../../src/index.ts';
import { expectIdle } from './harness.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A server on this machine that gives these answers in turn, the last one for ever. */
async function serve(...answers: Answer[]) {
  const seen: { method: string | undefined; body: string; headers: IncomingMessage['headers'] }[] =
    [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      seen.push({ method: request.method, body, headers: request.headers });
      answers[Math.min(seen.length, answers.length) - 1]?.(request, response, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { seen, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_request, response, body) =>
    response.writeHead(code, headers).end(`${code} ${body}`);
const tooMany = status(429, { 'retry-after-ms': '1' });

/** Once it has happened, be it at a later turn. */
async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await new Promise((resolve) => setImmediate(resolve));
}

/** Requests in flight and waiting, when the server is asked. */
function heldBy(limiter: Limiter, answer: Answer) {
  const held: number[] = [];
  const noting: Answer = (...asked) => {
    held.push(limiter.snapshot().byteBudget.used);
    answer(...asked);
  };
  return { held, noting };
}

describe('limiter.fetch', () => {
  it('sends again what was answered with 429, and passes on what comes then', async () => {
    const { seen, url } = await serve(tooMany, tooMany, status(200, { 'x-mine': 'yes' }));
    const limiter = createLimiter();
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

  it('passes the last response on, unread, when it is not sent again', async () => {
    const { seen, url } = await serve(tooMany);
    const limiter = createLimiter({ maxAttempts: 2 });
    const response = await limiter.fetch(new URL(url));
    expect(response.status).toBe(429);
    expect(await response.text()).toBe('429 ');
    expect(seen).toHaveLength(2);
    const refused = await serve(status(404));
    expect((await limiter.fetch(refused.url)).status).toBe(404);
    expect(refused.seen).toHaveLength(1);
  });

  it('rejects as fetch does where no response comes', async () => {
    const { url, server } = await serve(status(200));
    closing.pop();
    await new Promise((resolve) => server.close(resolve));
    const limiter = createLimiter({ maxAttempts: 1 });
    await expect(limiter.fetch(url)).rejects.toThrow('fetch failed');
    await expect(limiter.fetch('no address')).rejects.toThrow(TypeError);
    expectIdle(limiter);
  });

  it('takes Request objects, with what is in them, and sends them again', async () => {
    const { seen, url } = await serve(tooMany, status(201));
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
  ])('has the size of its body for bytes: %s', async (_name, body, bytes) => {
    const limiter = createLimiter();
    const { held, noting } = heldBy(limiter, status(200));
    const { url } = await serve(noting);
    await limiter.fetch(url, { method: 'POST', body });
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
    const { seen, url } = await serve(tooMany, status(200));
    const limiter = createLimiter();
    const init = { method: 'POST', body: make(), duplex: 'half' } as unknown as RequestInit;
    const response = await limiter.fetch(url, init);
    expect(response.status).toBe(429);
    expect(seen.map(({ body }) => body)).toEqual(['once']);
    expectIdle(limiter);
  });
});

describe('the signal of limiter.fetch', () => {
  const reason = new Error('enough');

  it('that has fired sends nothing', async () => {
    const { seen, url } = await serve(status(200));
    const limiter = createLimiter();
    const signal = AbortSignal.abort(reason);
    await expect(limiter.fetch(url, { signal })).rejects.toBe(reason);
    await expect(limiter.fetch(new Request(url, { signal }))).rejects.toBe(reason);
    expect(seen).toEqual([]);
    expectIdle(limiter);
  });

  it.each(['init', 'Request'])(
    'that fires while the request waits ends that: of %s',
    async (of) => {
      const { seen, url } = await serve(status(200));
      const limiter = createLimiter({ concurrency: 1 });
      const lease = await limiter.acquire();
      const controller = new AbortController();
      const init = { signal: controller.signal };
      const sent = of === 'init' ? limiter.fetch(url, init) : limiter.fetch(new Request(url, init));
      const other = limiter.fetch(url);
      controller.abort(reason);
      expect(limiter.snapshot().waiting).toBe(1);
      await expect(sent).rejects.toBe(reason);
      lease.release();
      expect((await other).status).toBe(200);
      expect(seen).toHaveLength(1);
    },
  );

  it.each(['init', 'Request'])('that fires during the call ends it: of %s', async (where) => {
    let closed = false;
    const { seen, url } = await serve((_request, response) => {
      response.on('close', () => {
        closed = true;
      });
    });
    const limiter = createLimiter();
    const controller = new AbortController();
    const init = { signal: controller.signal };
    const sent =
      where === 'init' ? limiter.fetch(url, init) : limiter.fetch(new Request(url, init));
    await until(() => seen.length === 1);
    controller.abort(reason);
    await expect(sent).rejects.toBe(reason);
    expectIdle(limiter);
    await until(() => closed);
  });

  it('that fires while the body comes ends that, as with the fetch of Node', async () => {
    let closed = false;
    const { url } = await serve((_request, response) => {
      response.writeHead(200).write('first part');
      response.on('close', () => {
        closed = true;
      });
    });
    const limiter = createLimiter();
    const controller = new AbortController();
    const response = await limiter.fetch(url, { signal: controller.signal });
    expectIdle(limiter);
    const text = response.text();
    controller.abort(reason);
    await expect(text).rejects.toBe(reason);
    await until(() => closed);
  });
});

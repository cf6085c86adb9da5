import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { expectIdle } from '../../limiter/harness.ts';
import { type Answer, serve, status } from '../../limiter/server.ts';

const json: Answer = (_request, response) => {
  response
    .writeHead(200, 'Quite all right', {
      'content-type': 'application/json',
      'set-cookie': ['a=1', 'b=2'],
    })
    .end('{"n":1}');
};

const moved: Answer = (_request, response) => {
  response.writeHead(302, { location: '/there' }).end();
};

afterEach(() => vi.unstubAllGlobals());

/** What a call of `fetch` is answered with, where that is not a server's. */
function answering(answer: unknown) {
  vi.stubGlobal('fetch', async () => answer);
}

describe('the response of limiter.fetch', () => {
  it('has the same properties as that of fetch', async () => {
    const { url } = await serve(moved, json, moved, json);
    const limiter = createLimiter();
    const [paced, plain] = [await limiter.fetch(url), await fetch(url)];
    for (const response of [paced, paced.clone(), paced.clone().clone()]) {
      expect(response).toBeInstanceOf(Response);
      for (const field of ['status', 'statusText', 'ok', 'url', 'redirected', 'type'] as const) {
        expect([field, response[field]]).toEqual([field, plain[field]]);
      }
      expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
      expect(response.bodyUsed).toBe(false);
      expect(await response.json()).toEqual({ n: 1 });
      expect(response.bodyUsed).toBe(true);
    }
    expect([paced.url, paced.redirected]).toEqual([`${url}there`, true]);
  });

  it.each([
    ['has been read', (response: Response) => response.text()],
    ['is being read by another reader', async ({ body }: Response) => void body?.getReader()],
  ])('is the one of fetch if its body %s', async (_, read) => {
    const answer = new Response('a');
    await read(answer);
    answering(answer);
    const limiter = createLimiter();
    const response = await limiter.fetch('https://api.example');
    expect(response).toBe(answer);
    await new Promise(setImmediate); // an unread body is read ahead now
    expect(response.status).toBe(200);
    expectIdle(limiter);
  });

  it('gives up its slot if its body is read by the method of another prototype', async () => {
    const { url } = await serve(json);
    const limiter = createLimiter();
    const response = await limiter.fetch(url);
    expect(await Response.prototype.text.call(response)).toBe('{"n":1}');
    await new Promise(setImmediate); // an unread body is read ahead now
    expectIdle(limiter);
  });

  it('is that of fetch, as one mock gives it to two calls', async () => {
    answering(new Response('a'));
    const limiter = createLimiter();
    expect(await (await limiter.fetch('https://api.example')).text()).toBe('a');
    const again = await limiter.fetch('https://api.example');
    expect([again.status, again.bodyUsed]).toEqual([200, true]);
    expectIdle(limiter);
  });

  it.each([
    ['text', (response: Response) => response.text()],
    ['json', async (response: Response) => JSON.stringify(await response.json())],
    ['arrayBuffer', async (response: Response) => Buffer.from(await response.arrayBuffer())],
    ['blob', async (response: Response) => (await response.blob()).text()],
    ['a copy', (response: Response) => new Response(response.body, response).text()],
    ['a stream', (response: Response) => new Response(response.body).text()],
    ['both copies', async (r: Response) => [r.clone(), r].map((each) => each.text())[0]],
  ])('can be read as %s', async (_name, read) => {
    const { url } = await serve(json);
    const limiter = createLimiter();
    expect(String(await read(await limiter.fetch(url)))).toBe('{"n":1}');
    expectIdle(limiter);
  });

  it('can be read into buffers of the reader', async () => {
    const { url } = await serve(json);
    const limiter = createLimiter();
    const reader = (await limiter.fetch(url)).body?.getReader({ mode: 'byob' });
    const parts: string[] = [];
    for (;;) {
      const result = await reader?.read(new Uint8Array(3));
      if (result === undefined || result.done) break;
      parts.push(Buffer.from(result.value ?? []).toString());
    }
    expect(parts).toEqual(['{"n', '":1', '}']);
    expectIdle(limiter);
  });

  it('is read once', async () => {
    const { url } = await serve(status(200));
    const response = await createLimiter().fetch(url);
    await response.text();
    await expect(response.text()).rejects.toThrow(TypeError);
    expect(() => response.clone()).toThrow(TypeError);
  });

  it('may be made by a test, of parts that are not bytes', async () => {
    const parts = new ReadableStream({
      start(controller) {
        for (const part of ['one', Buffer.from('two')]) controller.enqueue(part);
        controller.close();
      },
    });
    answering(new Response(parts));
    const limiter = createLimiter();
    const seen: unknown[] = [];
    for await (const part of (await limiter.fetch('x:')).body ?? []) seen.push(part);
    expect(seen).toEqual(['one', Buffer.from('two')]);
    expectIdle(limiter);
  });

  it('is returned unchanged if it is not a Response', async () => {
    const answer = { ok: true, status: 200, json: async () => 1 };
    answering(answer);
    const limiter = createLimiter();
    expect(await limiter.fetch('x:')).toBe(answer);
    expectIdle(limiter);
  });
});

import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { expectIdle } from '../../limiter/harness.ts';
import { type Answer, serve, status, until } from '../../limiter/server.ts';

/** A server that sends the first part of a body, and the rest when it is told to. */
async function twoParts(...more: Answer[]) {
  const open: ServerResponse[] = [];
  const first: Answer = (_request, response) => {
    response.writeHead(200).write('first ');
    open.push(response);
  };
  const served = await serve(first, ...more);
  return { ...served, rest: () => open[0]?.end('rest'), breakOff: () => open[0]?.destroy() };
}

describe('the body of a response of limiter.fetch', () => {
  it('holds slot and bytes until its last part has come', async () => {
    const { seen, url, rest } = await twoParts(status(200));
    const limiter = createLimiter({ concurrency: 1 });
    const response = await limiter.fetch(url, { method: 'POST', body: '12345' });
    const next = limiter.fetch(url);
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first ');
    expect(limiter.snapshot()).toMatchObject({
      waiting: 1,
      concurrency: { inFlight: 1 },
      byteBudget: { used: 5 },
    });
    expect(seen).toHaveLength(1);
    rest();
    await until(() => seen.length === 2);
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('rest');
    expect((await reader?.read())?.done).toBe(true);
    await (await next).text();
    expectIdle(limiter);
    expect(limiter.snapshot().ended.ok).toBe(2);
  });

  it('that is not read holds them only until it has arrived', async () => {
    const { url, rest } = await twoParts();
    const limiter = createLimiter();
    const response = await limiter.fetch(url);
    expect(limiter.snapshot().concurrency.inFlight).toBe(1);
    rest();
    await until(() => limiter.snapshot().concurrency.inFlight === 0);
    expect(await response.text()).toBe('first rest');
  });

  it('that is cancelled releases them, and ends at the server', async () => {
    let closed = false;
    const { url } = await serve((_request, response) => {
      response.on('close', () => {
        closed = true;
      });
      response.writeHead(200).write('first ');
    });
    const limiter = createLimiter();
    const response = await limiter.fetch(url);
    await response.body?.cancel();
    expectIdle(limiter);
    await until(() => closed);
    const left = await limiter.fetch(url);
    for await (const _ of left.body ?? []) break;
    expectIdle(limiter);
    expect(limiter.snapshot().ended.ok).toBe(2);
  });

  it('that breaks off errors its reader, and fails the request without a retry', async () => {
    const { seen, url, breakOff } = await twoParts();
    const limiter = createLimiter();
    const response = await limiter.fetch(url);
    const text = response.text();
    breakOff();
    await expect(text).rejects.toThrow('terminated');
    expectIdle(limiter);
    expect(limiter.snapshot().ended).toMatchObject({ ok: 0, failed: 1 });
    expect(seen).toHaveLength(1);
  });

  it('that is not JSON errors its reader, and the request counts as ok', async () => {
    const { url, rest } = await twoParts();
    const limiter = createLimiter();
    const json = (await limiter.fetch(url)).json();
    rest();
    await expect(json).rejects.toThrow(SyntaxError);
    expectIdle(limiter);
    expect(limiter.snapshot().ended).toMatchObject({ ok: 1, failed: 0 });
  });

  it('is read once, by the first reader, and holds its slot until then', async () => {
    const { url, rest } = await twoParts();
    const limiter = createLimiter();
    const response = await limiter.fetch(url);
    const text = response.text();
    await expect(response.text()).rejects.toThrow(TypeError);
    await expect(response.formData()).rejects.toThrow(TypeError);
    expect(response.bodyUsed).toBe(true);
    expect(response.body?.locked).toBe(true);
    expect(limiter.snapshot().concurrency.inFlight).toBe(1);
    rest();
    expect(await text).toBe('first rest');
    expectIdle(limiter);
    expect(limiter.snapshot().ended).toMatchObject({ ok: 1, failed: 0 });
  });

  it('may be read in a later turn', async () => {
    const { url, rest } = await twoParts();
    const limiter = createLimiter();
    const response = await limiter.fetch(url);
    await new Promise(setImmediate);
    expect(response.bodyUsed).toBe(false);
    const text = response.text();
    expect(response.bodyUsed).toBe(true);
    rest();
    expect(await text).toBe('first rest');
    expectIdle(limiter);
  });

  it('that breaks off unread throws no error', async () => {
    const { url, breakOff } = await twoParts();
    const limiter = createLimiter();
    const response = await limiter.fetch(url);
    breakOff();
    await until(() => limiter.snapshot().concurrency.inFlight === 0);
    await expect(response.text()).rejects.toThrow('terminated');
  });

  it.each([
    ['has none', { method: 'HEAD' }, 200],
    ['may have none', {}, 204],
    ['says no', {}, 404],
  ])('holds nothing if the response %s', async (_name, init, code) => {
    const { url } = await serve((_request, response) => {
      response.writeHead(code).flushHeaders();
      if (code === 404) response.write('a reason without end');
      else response.end();
    });
    const limiter = createLimiter();
    expect((await limiter.fetch(url, init)).status).toBe(code);
    expectIdle(limiter);
  });
});

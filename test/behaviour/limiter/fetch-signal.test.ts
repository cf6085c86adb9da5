import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { READ_AHEAD_BYTES, UNREAD_MS } from '../../../src/limiter/held-body.ts';
import { expectIdle } from '../../limiter/harness.ts';
import { rig } from '../../limiter/rig.ts';
import { serve, status, tooManyNow, until } from '../../limiter/server.ts';
import { aliveBytes } from '../../support/memory.ts';

describe('the signal of limiter.fetch', () => {
  const reason = new Error('enough');

  it('that has aborted before sends nothing', async () => {
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

  it('that aborts while the body arrives ends the body, as with the fetch of Node', async () => {
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
    expect(limiter.snapshot().concurrency.inFlight).toBe(1);
    const text = response.text();
    controller.abort(reason);
    expectIdle(limiter);
    await expect(text).rejects.toBe(reason);
    await until(() => closed);
    expect(limiter.snapshot().ended).toMatchObject({ ok: 0, cancelled: 1 });
  });

  it('that fires after the head of an answer that is not ok ends its body', async () => {
    let closed = false;
    const { url } = await serve((_request, response) => {
      response.writeHead(404, { 'content-type': 'text/plain' }).write('first part');
      response.on('close', () => {
        closed = true;
      });
    });
    const limiter = createLimiter();
    const controller = new AbortController();
    const response = await limiter.fetch(url, { signal: controller.signal });
    expect(response.status).toBe(404);
    expectIdle(limiter);
    const text = response.text();
    controller.abort(reason);
    await expect(text).rejects.toBe(reason);
    await until(() => closed);
  });

  it('that fires after a body has given up its slot ends it', async () => {
    let closed = false;
    const { url } = await serve((_request, response) => {
      response.writeHead(200).write(Buffer.alloc(2 * READ_AHEAD_BYTES));
      response.on('close', () => {
        closed = true;
      });
    });
    const { clock, limiter } = rig();
    const controller = new AbortController();
    const response = await limiter.fetch(url, { signal: controller.signal });
    // Beside that of the attempt.
    await until(() => clock.pendingTimers === 2);
    clock.advance(UNREAD_MS);
    expectIdle(limiter);
    controller.abort(reason);
    await expect(response.arrayBuffer()).rejects.toBe(reason);
    await until(() => closed);
  });

  it('has no more than one listener, however many answers have come', async () => {
    const { url } = await serve(status(200), status(404), status(200), status(404));
    const limiter = createLimiter();
    const { signal } = new AbortController();
    for (let n = 0; n < 4; n += 1) await (await limiter.fetch(url, { signal })).text();
    expect(getEventListeners(signal, 'abort').length).toBeLessThanOrEqual(1);
  });

  it.each([
    ['no body', 'GET', 204],
    ['a head alone', 'HEAD', 200],
    ['a refusal without a body', 'HEAD', 404],
  ])('is not listened to after %s', async (_name, method, code) => {
    const { url } = await serve((_request, response) => response.writeHead(code).end());
    const limiter = createLimiter();
    const { signal } = new AbortController();
    const response = await limiter.fetch(url, { method, signal });
    expect(response.status).toBe(code);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('that outlives its responses keeps none of them in memory', async () => {
    const { url } = await serve(status(200), status(404), tooManyNow, status(200), status(404));
    const limiter = createLimiter({ maxAttempts: 2 });
    const { signal } = new AbortController();
    // A function of its own, whose variables are gone when it has returned.
    const fetched = async () => {
      const response = await limiter.fetch(url, { signal });
      await response.text();
      return new WeakRef(response);
    };
    const responses: WeakRef<Response>[] = [];
    for (let n = 0; n < 12; n += 1) responses.push(await fetched());
    expectIdle(limiter);
    let kept = responses.length;
    // The collector takes its time; each connection keeps its last response.
    for (let look = 0; look < 100 && kept > 3; look += 1) {
      await sleep(1);
      // At the beginning of a turn: what a turn has looked at stays until its end.
      aliveBytes();
      kept = responses.filter((response) => response.deref() !== undefined).length;
    }
    expect(kept).toBeLessThanOrEqual(3);
  });
});

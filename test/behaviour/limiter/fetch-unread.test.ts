import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLimiter } from '../../../src/index.ts';
import { READ_AHEAD_BYTES, UNREAD_MS } from '../../../src/limiter/held-body.ts';
import { expectIdle } from '../../limiter/harness.ts';
import { rig } from '../../limiter/rig.ts';
import { type Answer, serve, until } from '../../limiter/server.ts';
import { aliveBytes } from '../../support/memory.ts';

const LENGTH = 2 * READ_AHEAD_BYTES;

const long: Answer = (_request, response) => {
  response.writeHead(200).end(Buffer.alloc(LENGTH));
};

describe('a body of limiter.fetch longer than what is read ahead', () => {
  it('holds its slot for a while, and is complete if it is read then', async () => {
    const { url } = await serve(long);
    const { clock, limiter } = rig();
    const response = await limiter.fetch(url);
    // Beside that of the attempt.
    await until(() => clock.pendingTimers === 2);
    clock.advance(UNREAD_MS - 1);
    expect(limiter.snapshot().concurrency.inFlight).toBe(1);
    clock.advance(1);
    expectIdle(limiter);
    expect((await response.arrayBuffer()).byteLength).toBe(LENGTH);
    expect(clock.pendingTimers).toBe(0);
  });

  it('holds its slot until the end while it is read', async () => {
    const { url } = await serve(long);
    const { clock, limiter } = rig();
    const response = await limiter.fetch(url);
    await until(() => clock.pendingTimers === 1);
    const reading = response.arrayBuffer();
    await until(() => clock.pendingTimers === 0);
    await reading;
    expectIdle(limiter);
    const [first, second] = (await limiter.fetch(url)).body?.tee() ?? [];
    await Promise.all([first?.cancel(), second?.cancel()]);
    expectIdle(limiter);
    expect(clock.pendingTimers).toBe(0);
  });

  it('holds neither slot nor connection once its user has dropped it', async () => {
    let closed = false;
    const { url } = await serve((_request, response) => {
      response.on('close', () => {
        closed = true;
      });
      response.writeHead(200).write(Buffer.alloc(LENGTH));
    });
    const { clock, limiter } = rig();
    await limiter.fetch(url);
    await until(() => clock.pendingTimers === 1);
    // The collector takes its time, and tells what it has found at a later turn.
    while (!closed) {
      aliveBytes();
      await sleep(1);
    }
    expectIdle(limiter);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a short body of limiter.fetch that is not read', () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  const answered = () => {
    vi.stubGlobal('fetch', async () => new Response('hello'));
    return createLimiter({ telemetry: false });
  };

  it('gives its slot back, after fake timers that were removed too early, too', async () => {
    vi.useFakeTimers();
    await answered().fetch('http://server.test/');
    vi.useRealTimers();
    const limiter = answered();
    await limiter.fetch('http://server.test/');
    await until(() => limiter.snapshot().concurrency.inFlight === 0);
    expectIdle(limiter);
  });

  it('gives its slot back where there is no setImmediate', async () => {
    const limiter = answered();
    vi.stubGlobal('setImmediate', undefined);
    await limiter.fetch('http://server.test/');
    vi.unstubAllGlobals();
    await until(() => limiter.snapshot().concurrency.inFlight === 0);
    expectIdle(limiter);
  });
});

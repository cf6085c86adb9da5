import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lastValueFrom, range, toArray } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { createLimiter, throttle } from '../../src/index.ts';

const closing: Server[] = [];
afterEach(() => {
  for (const server of closing.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/**
 * Answers each request with its path after 20 ms.
 * @param received called with the number of each request
 */
function listening(port: number, received?: (count: number) => void): Promise<Server> {
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    received?.(count);
    setTimeout(() => response.end(request.url), 20);
  });
  closing.push(server);
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
}

/**
 * A server that is killed at its 50th request, with what it is working on, and comes back after 3
 * s. Not at a time: the `fetch` of Node 20 loads its parser at the first connection of a process,
 * and never ends if that breaks meanwhile.
 */
async function restarting(): Promise<string> {
  const first = await listening(0, (count) => {
    if (count === 50) kill();
  });
  const { port } = first.address() as AddressInfo;
  // Real time: what sockets say as a process goes away cannot be made up.
  const kill = () => {
    first.close();
    first.closeAllConnections();
    setTimeout(() => listening(port), 3_000);
  };
  return `http://127.0.0.1:${port}`;
}

describe('a server that restarts within 3 s loses none of 200 requests', () => {
  const paths = (results: readonly string[]) => new Set(results).size;

  it('of a stream', async () => {
    const url = await restarting();
    const get = async (n: number, { signal }: { signal: AbortSignal }) =>
      (await fetch(`${url}/${n}`, { signal })).text();
    const results = range(0, 200).pipe(throttle(get, { concurrency: 10 }), toArray());
    expect(paths(await lastValueFrom(results))).toBe(200);
  });

  it('of `run` and of `limiter.fetch`', async () => {
    const url = await restarting();
    const limiter = createLimiter({ concurrency: 10 });
    const tasks = Array.from({ length: 200 }, async (_, n) =>
      n % 2 === 0
        ? limiter.run(async () => (await fetch(`${url}/${n}`)).text())
        : (await limiter.fetch(`${url}/${n}`)).status.toString() + n,
    );
    expect(paths(await Promise.all(tasks))).toBe(200);
  });
});

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Ports below those that Linux assigns to servers that ask for any port: such a server could take
 * the port before the intended program listens.
 */
const FIRST = 10_000;
const LAST = 32_000;
const TRIES = 100;

/** The ports given to programs, which may not listen yet. */
const given = new Set<number>();

/**
 * Finds a free port of 127.0.0.1, for a program that needs a port number. No port is returned
 * twice.
 * @throws Error if none of a hundred ports is free
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const port = randomInt(FIRST, LAST);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`none of ${TRIES} ports from ${FIRST} to ${LAST} is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below those that Linux gives to a server that asks for any port: such a server could get the port
 * before the program that it was found for.
 */
const FIRST = 10_000;
const LAST = 32_000;
const TRIES = 100;

/** Ports that programs were told that may not listen yet. */
const given = new Set<number>();

/**
 * A port of 127.0.0.1 on which nothing listens, for a program that has to be told one. No port is
 * given twice.
 * @throws Error if none of a hundred is free
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

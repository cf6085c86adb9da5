import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, it } from 'vitest';
import type { Cell } from '../../bench/servers/cells.ts';
import { canRun } from '../dashboards/programs.ts';

/**
 * Real rate limiters, as programs and packages, in real time. How fast a client is, and how often
 * it is rejected, depends on the machine and is printed. What fails is a client that loses a
 * request, is told the end of one twice, does not come to an end, or crashes.
 */
const SERVERS = [
  ...(canRun('nginx') ? ['nginx-req', 'nginx-req-burst', 'nginx-conn'] : []),
  ...(canRun('haproxy') ? ['haproxy'] : []),
  'express-draft-6',
  'express-draft-7',
  'express-draft-8',
  'rate-limiter-flexible',
];

const CLIENTS = ['headgate', 'headgate-fetch', 'headgate-known'];
/** Its figures are printed beside those of headgate. */
const PEER = 'p-limit';
const REQUESTS = 200;
/** Ten times what the slowest takes on a machine that has nothing else to do. */
const BOUND_MS = 240_000;
/** Nothing is asked of the peer. */
const PEER_BOUND_MS = 45_000;
const TIMEOUT_MS = 300_000;

interface Measured {
  readonly cells: Readonly<Record<string, Readonly<Record<string, Cell>>>>;
  readonly failures: Readonly<Record<string, string>>;
}

/** All at once: most of the time each waits. */
async function measure(): Promise<Measured> {
  const main = join(inject('packageFolder'), 'build/bench/servers/main.js');
  const chosen = ['--server', SERVERS.join(','), '--client', [...CLIENTS, PEER].join(',')];
  const bounds = ['--bound', `${BOUND_MS}`, '--peer-bound', `${PEER_BOUND_MS}`];
  const runs = ['--requests', `${REQUESTS}`, ...bounds];
  const side = ['--parallel', '100', '--apart', '400', '--cold', '--json'];
  const args = [main, ...chosen, ...runs, ...side];
  // It exits with 1 where a run has failed, and says which.
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    timeout: TIMEOUT_MS,
  }).catch((error: { readonly stdout: string }) => error);
  const json = stdout.lastIndexOf('\n{');
  console.log(stdout.slice(0, json));
  return JSON.parse(stdout.slice(json));
}

it(
  'each request to a real server ends once, and well',
  async () => {
    const { cells, failures } = await measure();
    expect(failures).toEqual({});
    expect(Object.keys(cells)).toEqual(SERVERS);
    for (const [server, row] of Object.entries(cells)) {
      for (const client of CLIENTS) {
        const name = `${client}, ${server}`;
        const { isEnded, ends, successes } = row[client] ?? {};
        expect({ isEnded, ends, successes }, name).toEqual({
          isEnded: true,
          ends: { ended: REQUESTS, failed: 0, again: 0 },
          successes: REQUESTS,
        });
      }
    }
  },
  TIMEOUT_MS + 30_000,
);

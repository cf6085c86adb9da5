import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../bench/servers/free-port.ts';
import { findProgram } from '../../bench/servers/program.ts';
import { ended } from '../dashboards/programs.ts';

const START_MS = 60_000;

/** A private `redis-server` of a test, with its data in a temporary folder. */
export interface Redis {
  readonly port: number;
  readonly url: string;
  readonly process: ChildProcess;
  /** Kills the server, as a crash would. */
  kill(): Promise<void>;
  /** Starts the server again at the same port, with its stored data, or without data. */
  restart(how?: { isEmpty: boolean }): Promise<void>;
  stop(): Promise<void>;
}

/**
 * @param settings arguments of `redis-server`, such as `['--appendonly', 'yes']`. Default: it
 * stores nothing.
 */
export async function startRedis(settings: readonly string[] = ['--save', '']): Promise<Redis> {
  const dir = await mkdtemp(join(tmpdir(), 'headgate-redis-'));
  const port = await freePort();
  const place = ['--bind', '127.0.0.1', '--port', `${port}`, '--dir', dir];
  const start = async () => {
    const program = findProgram('redis-server') ?? 'redis-server';
    const child = spawn(program, [...place, ...settings], { stdio: 'ignore' });
    await once(child, 'spawn');
    await accepting(port, child);
    return child;
  };
  let child = await start();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get process() {
      return child;
    },
    kill: async () => {
      const end = once(child, 'exit');
      child.kill('SIGKILL');
      await end;
    },
    restart: async ({ isEmpty } = { isEmpty: false }) => {
      await ended(child);
      if (isEmpty) {
        await rm(dir, { recursive: true });
        await mkdir(dir);
      }
      child = await start();
    },
    stop: async () => {
      await ended(child);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Waits until the server answers a PING: it may still be loading its data. */
async function accepting(port: number, child: ChildProcess): Promise<void> {
  const giveUpAt = Date.now() + START_MS;
  while (Date.now() < giveUpAt) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
    if (await pongs(port)) return;
    await sleep(20);
  }
  throw new Error(`redis-server was not ready after ${START_MS} ms`);
}

function pongs(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    const tell = (isReady: boolean) => {
      socket.destroy();
      resolve(isReady);
    };
    // A server with a password answers with an error, and is ready too.
    socket.once('data', (data) => tell(/^(\+PONG|-NOAUTH)/.test(`${data}`)));
    socket.once('error', () => tell(false));
  });
}

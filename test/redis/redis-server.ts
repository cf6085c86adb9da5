import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ended, freePort } from '../dashboards/programs.ts';

const START_MS = 20_000;

/** A Redis of a test, with its data in a folder that goes with it. */
export class RedisServer {
  readonly port: number;
  private readonly folder: string;
  private readonly options: readonly string[];
  private child: ChildProcess | undefined = undefined;

  private constructor(port: number, folder: string, options: readonly string[]) {
    this.port = port;
    this.folder = folder;
    this.options = options;
  }

  static async start(...options: readonly string[]): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), 'headgate-redis-'));
    const server = new RedisServer(await freePort(), folder, options);
    await server.start();
    return server;
  }

  /** Starts it again, on the same port, with what it has written. */
  async start(): Promise<void> {
    const all = ['--port', `${this.port}`, '--bind', '127.0.0.1', '--dir', this.folder];
    this.child = spawn('redis-server', [...all, '--save', '', ...this.options], {
      stdio: 'ignore',
    });
    await once(this.child, 'spawn');
    const giveUpAt = Date.now() + START_MS;
    while (Date.now() < giveUpAt) {
      if (await answers(this.port)) return;
      if (this.child.exitCode !== null) throw new Error('redis-server has ended');
      await sleep(20);
    }
    throw new Error('redis-server was not ready');
  }

  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null) return;
    const end = once(child, 'exit');
    child.kill('SIGKILL');
    await end;
  }

  async stop(): Promise<void> {
    if (this.child !== undefined) await ended(this.child);
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Whether something answers commands there; a password that is missing is an answer. */
async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.write('PING\r\n');
    const [text] = await once(socket, 'data');
    return /PONG|NOAUTH/.test(String(text));
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

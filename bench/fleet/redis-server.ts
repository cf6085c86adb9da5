/** A private `redis-server` that stores nothing on disk. */
import { createClient } from 'redis';
import { findProgram, type RunningProgram, startProgram } from '../servers/program.ts';
import { sharedNow } from './send-log.ts';

export const INSTALL = 'apt-get install redis-server';

/** All compared clients work through scripts. */
const SCRIPTS = ['eval', 'evalsha', 'fcall'];

/** The work of a server since its start. */
export interface ServerWork {
  /** Calls of scripts. */
  readonly calls: number;
  /** The CPU time of all its threads, in milliseconds. */
  readonly cpuMs: number;
}

export class RedisServer {
  private program: RunningProgram;

  private constructor(program: RunningProgram) {
    this.program = program;
  }

  static async start(): Promise<RedisServer> {
    return new RedisServer(await launch());
  }

  get port(): number {
    return this.program.port;
  }

  async stop(): Promise<void> {
    await this.program.stop();
  }

  /**
   * Restarts the server empty, at the same port. @returns when it was reachable, by the common
   * clock
   */
  async restart(): Promise<number> {
    this.program = await launch(this.port);
    return sharedNow();
  }

  async work(): Promise<ServerWork> {
    const client = createClient({ url: `redis://127.0.0.1:${this.port}` });
    await client.connect();
    try {
      const stats = await client.info('commandstats');
      const cpu = await client.info('cpu');
      const calls = SCRIPTS.map((name) => numberIn(stats, `cmdstat_${name}:calls=`));
      return {
        calls: calls.reduce((sum, count) => sum + count, 0),
        cpuMs: 1_000 * (numberIn(cpu, 'used_cpu_sys:') + numberIn(cpu, 'used_cpu_user:')),
      };
    } finally {
      await client.close();
    }
  }
}

export function isRedisInstalled(): boolean {
  return findProgram('redis-server') !== undefined;
}

/** The work between two readings. */
export function workBetween(before: ServerWork, after: ServerWork): ServerWork {
  return {
    calls: after.calls - before.calls,
    cpuMs: after.cpuMs - before.cpuMs,
  };
}

function launch(port?: number): Promise<RunningProgram> {
  return startProgram({
    files: () => ({}),
    command: (at, folder) => [
      findProgram('redis-server') ?? 'redis-server',
      ...['--bind', '127.0.0.1', '--port', `${at}`, '--dir', folder],
      ...['--save', '', '--appendonly', 'no'],
    ],
    ...(port !== undefined && { port }),
  });
}

/** The number after a pattern; 0 if the pattern is not found. */
function numberIn(text: string, before: string): number {
  return Number(text.match(new RegExp(`^${before}([0-9.]+)`, 'm'))?.[1] ?? 0);
}

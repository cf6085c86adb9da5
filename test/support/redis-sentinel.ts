import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'redis';
import { freePort } from '../../bench/servers/free-port.ts';
import { findProgram } from '../../bench/servers/program.ts';
import { ended } from '../dashboards/programs.ts';
import { type Redis, startRedis } from './redis.ts';

const READY_MS = 60_000;

/** A master with one replica, and a sentinel that promotes the replica. */
export interface RedisSentinel {
  /** The port of the sentinel. */
  readonly port: number;
  /** The sentinel's name of the master. */
  readonly name: string;
  readonly master: Redis;
  stop(): Promise<void>;
}

export async function startRedisSentinel(): Promise<RedisSentinel> {
  const name = 'limits';
  const master = await startRedis(['--save', '', '--repl-diskless-sync-delay', '0']);
  const of = ['--replicaof', '127.0.0.1', `${master.port}`];
  const replica = await startRedis(['--save', '', ...of]);
  const folder = await mkdtemp(join(tmpdir(), 'headgate-sentinel-'));
  const port = await freePort();
  const file = join(folder, 'sentinel.conf');
  const settings = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor ${name} 127.0.0.1 ${master.port} 1`,
    `sentinel down-after-milliseconds ${name} 500`,
    `sentinel failover-timeout ${name} 3000`,
  ];
  await writeFile(file, `${settings.join('\n')}\n`);
  const program = findProgram('redis-server') ?? 'redis-server';
  const child = spawn(program, [file, '--sentinel'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const stop = async () => {
    await ended(child);
    await Promise.all([master.stop(), replica.stop()]);
    await rm(folder, { recursive: true, force: true });
  };
  await knowsReplica(port, name).catch(async (error) => {
    await stop();
    throw error;
  });
  return { port, name, master, stop };
}

/** Waits until the sentinel has found a replica that is in sync with its master. */
async function knowsReplica(port: number, name: string): Promise<void> {
  const reconnectStrategy = () => 50;
  const client = createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy } });
  client.on('error', () => {});
  await client.connect();
  try {
    for (const giveUpAt = Date.now() + READY_MS; ; await sleep(50)) {
      const known = await client.sendCommand(['SENTINEL', 'REPLICAS', name]);
      if (/"master-link-status"[:,]"ok"/.test(JSON.stringify(known))) return;
      if (Date.now() > giveUpAt)
        throw new Error(`the sentinel has no replica: ${JSON.stringify(known)}`);
    }
  } finally {
    client.destroy();
  }
}

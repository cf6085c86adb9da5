import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'redis';
import { freePort } from '../../bench/servers/free-port.ts';
import { type Redis, startRedis } from './redis.ts';

const SLOTS = 16_384;
const READY_MS = 60_000;

type Client = Awaited<ReturnType<typeof clientOf>>;

interface Node {
  readonly server: Redis;
  readonly admin: Client;
  readonly id: string;
}

/** A cluster of three masters without replicas. */
export interface RedisCluster {
  readonly ports: readonly number[];
  /**
   * Moves the slot of a key to another master while it is in use. @returns the number of moved keys
   */
  moveSlotOf(key: string): Promise<number>;
  stop(): Promise<void>;
}

export async function startRedisCluster(): Promise<RedisCluster> {
  const nodes = await Promise.all([startNode(), startNode(), startNode()]);
  const part = Math.ceil(SLOTS / nodes.length);
  await Promise.all(
    nodes.map(({ admin }, place) => {
      const last = Math.min(SLOTS, part * (place + 1)) - 1;
      return admin.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', `${part * place}`, `${last}`]);
    }),
  );
  const [first, ...others] = nodes as [StartedNode, ...StartedNode[]];
  for (const { server, busPort } of others) {
    const meet = ['CLUSTER', 'MEET', '127.0.0.1', `${server.port}`, `${busPort}`];
    await first.admin.sendCommand(meet);
  }
  await Promise.all(nodes.map(({ admin }) => ready(admin, nodes.length)));
  return {
    ports: nodes.map(({ server }) => server.port),
    moveSlotOf: (key) => moveSlot(nodes, key),
    stop: async () => {
      for (const { admin } of nodes) admin.destroy();
      await Promise.all(nodes.map(({ server }) => server.stop()));
    },
  };
}

interface StartedNode extends Node {
  readonly busPort: number;
}

async function startNode(): Promise<StartedNode> {
  const busPort = await freePort();
  const cluster = ['--cluster-enabled', 'yes', '--cluster-port', `${busPort}`];
  const server = await startRedis(['--save', '', ...cluster, '--cluster-node-timeout', '2000']);
  const admin = await clientOf(server);
  const id = String(await admin.sendCommand(['CLUSTER', 'MYID']));
  return { server, admin, id, busPort };
}

async function clientOf({ url }: Redis) {
  const client = createClient({ url });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Waits until a node knows all others, and that every slot is served. */
async function ready(admin: Client, size: number): Promise<void> {
  for (const giveUpAt = Date.now() + READY_MS; ; await sleep(20)) {
    const info = String(await admin.sendCommand(['CLUSTER', 'INFO']));
    if (info.includes('cluster_state:ok') && info.includes(`cluster_size:${size}`)) return;
    if (Date.now() > giveUpAt) throw new Error(`the cluster is not ready: ${info}`);
  }
}

async function moveSlot(nodes: readonly Node[], key: string): Promise<number> {
  const [{ admin: any }] = nodes as [Node, ...Node[]];
  const slot = Number(await any.sendCommand(['CLUSTER', 'KEYSLOT', key]));
  const from = nodes[Math.floor(slot / Math.ceil(SLOTS / nodes.length))] as Node;
  const to = nodes.find((node) => node !== from) as Node;
  const setSlot = (node: Node, ...how: string[]) =>
    node.admin.sendCommand(['CLUSTER', 'SETSLOT', `${slot}`, ...how]);
  await setSlot(to, 'IMPORTING', from.id);
  await setSlot(from, 'MIGRATING', to.id);
  // Move the keys one by one, so that a script finds the keys on both masters.
  for (let moved = 0; ; moved += 1) {
    const list = await from.admin.sendCommand(['CLUSTER', 'GETKEYSINSLOT', `${slot}`, '1']);
    const [next] = list as unknown as string[];
    if (next === undefined) {
      for (const node of [to, from, ...nodes]) await setSlot(node, 'NODE', to.id);
      return moved;
    }
    await from.admin.sendCommand(['MIGRATE', '127.0.0.1', `${to.server.port}`, next, '0', '5000']);
    await sleep(5);
  }
}

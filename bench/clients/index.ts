import type { GateName } from '../gates.ts';
import { isGateName } from '../gates.ts';
import { isWatchName, type WatchName } from '../watching.ts';
import type { Client, ClientModule } from './client.ts';

export const clients = {
  'async-sema': { warmUp: 20_000, load: () => import('./async-sema.ts') },
  'p-limit': { warmUp: 20_000, load: () => import('./p-limit.ts') },
  'p-queue': { warmUp: 20_000, load: () => import('./p-queue.ts') },
  mergeMap: { warmUp: 20_000, load: () => import('./merge-map.ts') },
  cockatiel: { warmUp: 2_000, maxTasks: 20_000, load: () => import('./cockatiel.ts') },
  bottleneck: { warmUp: 200, maxTasks: 1_000, load: () => import('./bottleneck.ts') },
  'headgate-throttle': { warmUp: 20_000, load: () => import('./headgate-throttle.ts') },
  'headgate-run': { warmUp: 20_000, load: () => import('./headgate-run.ts') },
  'headgate-throttle-all': { warmUp: 20_000, load: () => import('./headgate-throttle-all.ts') },
  'headgate-run-all': { warmUp: 20_000, load: () => import('./headgate-run-all.ts') },
} satisfies Record<string, Client>;

export type ClientName = keyof typeof clients;

export function isClientName(name: string): name is ClientName {
  return Object.hasOwn(clients, name);
}

/** Returns a client by its name, or `throttle` with the named gate or the named telemetry. */
export async function loadClient(name: ClientName | GateName | WatchName): Promise<ClientModule> {
  if (isClientName(name)) return clients[name].load();
  if (isWatchName(name)) return (await import('./watched-stream.ts')).watchedStream(name);
  if (!isGateName(name)) throw new TypeError(`\`client\` must be a known client, got ${name}`);
  const { gatedStream } = await import('./gated-stream.ts');
  return gatedStream(name);
}

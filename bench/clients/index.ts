import type { GateName } from '../gates.ts';
import { isGateName } from '../gates.ts';
import { isWatchName, type WatchName } from '../watching.ts';

/** What every client runs: takes nothing, does next to nothing, returns a promise. */
export type Task = () => Promise<void>;

/** Runs `task` `count` times, at most `concurrency` at once; resolves when the last one has ended. */
export type RunAll = (task: Task, count: number, concurrency: number) => Promise<void>;

/**
 * Hands over `count` requests whose tasks never end, and returns how many the client has taken and
 * whatever has to stay reachable so that those that wait stay in memory.
 */
export type Fill = (
  task: Task,
  count: number,
  concurrency: number,
) => { taken: number; held: unknown };

export interface ClientModule {
  readonly run: RunAll;
  readonly fill?: Fill;
  /** Throws unless each gate that is on, beside the concurrency, is at work. */
  readonly prove?: (concurrency: number) => Promise<void>;
}

export interface Client {
  /** At most this many tasks a run: without it the slowest peers would take minutes a run. */
  readonly maxTasks?: number;
  /** Tasks run before the clock starts; 20,000 unless the client is too slow for that. */
  readonly warmUp: number;
  /** Imported on demand, so that a process loads the one client that it measures. */
  readonly load: () => Promise<ClientModule>;
}

export const clients = {
  'async-sema': { warmUp: 20_000, load: () => import('./async-sema.ts') },
  'p-limit': { warmUp: 20_000, load: () => import('./p-limit.ts') },
  'p-queue': { warmUp: 20_000, load: () => import('./p-queue.ts') },
  mergeMap: { warmUp: 20_000, load: () => import('./merge-map.ts') },
  cockatiel: { warmUp: 2_000, maxTasks: 20_000, load: () => import('./cockatiel.ts') },
  bottleneck: { warmUp: 200, maxTasks: 2_000, load: () => import('./bottleneck.ts') },
  'headgate-throttle': { warmUp: 20_000, load: () => import('./headgate-throttle.ts') },
  'headgate-run': { warmUp: 20_000, load: () => import('./headgate-run.ts') },
  'headgate-throttle-all': { warmUp: 20_000, load: () => import('./headgate-throttle-all.ts') },
  'headgate-run-all': { warmUp: 20_000, load: () => import('./headgate-run-all.ts') },
} satisfies Record<string, Client>;

export type ClientName = keyof typeof clients;

export function isClientName(name: string): name is ClientName {
  return Object.hasOwn(clients, name);
}

/** The client itself, or `throttle` with the gate that is named, or watched as it says. */
export async function loadClient(name: ClientName | GateName | WatchName): Promise<ClientModule> {
  if (isClientName(name)) return clients[name].load();
  if (isWatchName(name)) return (await import('./watched-stream.ts')).watchedStream(name);
  if (!isGateName(name)) throw new TypeError(`\`client\` must be a known client, got ${name}`);
  const { gatedStream } = await import('./gated-stream.ts');
  return gatedStream(name);
}

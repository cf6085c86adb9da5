/** What is measured, and the options that choose it. */
import { parseArgs } from 'node:util';
import type { Client, ClientName } from './clients/index.ts';
import { clients, isClientName } from './clients/index.ts';
import type { Job } from './worker.ts';

const MIN_ROUNDS = 5;
const MIN_TASKS = 1_000;

type CostName = 'per-request-10k' | 'per-request-1M' | 'waiting-request' | 'waiting-run';
export type Name = ClientName | CostName;

export interface Options {
  readonly json: boolean;
  readonly rounds: number;
  readonly jobs: ReadonlyMap<Name, Job>;
}

export class UsageError extends Error {}

function planJobs(tasks: number): Map<Name, Job> {
  const jobs = new Map<Name, Job>();
  for (const [client, { warmUp, maxTasks = tasks }] of Object.entries<Client>(clients)) {
    if (isClientName(client)) {
      const count = Math.min(tasks, maxTasks);
      jobs.set(client, { measure: 'time', client, tasks: count, repeat: 1, warmUp });
    }
  }
  const stream = { client: 'headgate-throttle', repeat: 1, warmUp: 20_000 } as const;
  const waiting = { ...stream, measure: 'memory', tasks: 200_000 } as const;
  // As many requests in all as the long stream has, so that both spend the same share of them in
  // code that is not yet compiled.
  jobs.set('per-request-10k', { ...stream, measure: 'time', tasks: 10_000, repeat: 100 });
  jobs.set('per-request-1M', { ...stream, measure: 'time', tasks: 1_000_000 });
  jobs.set('waiting-request', waiting);
  jobs.set('waiting-run', { ...waiting, client: 'headgate-run' });
  return jobs;
}

export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: 'boolean', default: false },
      rounds: { type: 'string', default: `${MIN_ROUNDS}` },
      tasks: { type: 'string', default: '200000' },
      only: { type: 'string' },
    },
  });
  const rounds = readInteger('--rounds', values.rounds, MIN_ROUNDS);
  const jobs = planJobs(readInteger('--tasks', values.tasks, MIN_TASKS));
  if (values.only === undefined) {
    return { json: values.json, rounds, jobs };
  }
  const wanted = new Set<string>(values.only.split(',').map((name) => name.trim()));
  const known: ReadonlySet<string> = new Set(jobs.keys());
  for (const name of wanted) {
    if (!known.has(name)) {
      throw new UsageError(`--only takes any of ${[...known].join(', ')}; got "${name}"`);
    }
  }
  const chosen = new Map([...jobs].filter(([name]) => wanted.has(name)));
  return { json: values.json, rounds, jobs: chosen };
}

function readInteger(option: string, text: string, min: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < min) {
    throw new UsageError(`${option} must be an integer >= ${min}, got "${text}"`);
  }
  return value;
}

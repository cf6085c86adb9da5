/** The jobs of one round, by name. */
import type { Client } from './clients/client.ts';
import { type ClientName, clients, isClientName } from './clients/index.ts';
import { type GateName, gateNames } from './gates.ts';
import { CROWDS, type Job, OPERATIONS, type WaitersJob } from './job.ts';
import { type WatchName, watchNames } from './watching.ts';

/** The number of timed operations, and of operations before the clock starts. */
const OPERATIONS_TIMED = 20_000;
const OPERATIONS_WARM_UP = 10_000;
/**
 * Aborts: twice the largest number of waiters, so that the removal of aborted ones is timed too.
 */
const ABORTS = 200_000;

/** Runs of an instrumented stream: longer together than the interval of metrics collection. */
const WATCHED_RUNS = 3;

/** The numbers of waiters, with the endings of the jobs' names. */
const SIZES = [
  ['100', 100],
  ['100k', 100_000],
] as const;

type CostName =
  | 'per-request-10k'
  | 'per-request-1M'
  | 'waiting-request'
  | 'waiting-run'
  | 'waiting-request-all'
  | 'waiting-run-all'
  | 'keys-100'
  | 'keys-10k'
  | 'http-p-limit'
  | 'http-throttle'
  | 'http-limiter-fetch'
  | 'http-p-limit-signal'
  | 'http-limiter-fetch-signal'
  | 'bare-span'
  | 'bare-records';
/** An operation on a limiter with many waiters, such as `slots-run`. */
export type WaitersTopic = `${WaitersJob['crowd']}-${WaitersJob['operation']}`;
export type WaitersName = `${WaitersTopic}-${(typeof SIZES)[number][0]}`;
export type Name = ClientName | CostName | GateName | WatchName | WaitersName;

export const waitersTopics: readonly WaitersTopic[] = CROWDS.flatMap((crowd) =>
  OPERATIONS.map((operation) => `${crowd}-${operation}` as const),
);

/** @param tasks the number of tasks of a client; other jobs have fixed numbers */
export function planJobs(tasks: number): Map<Name, Job> {
  const jobs = new Map<Name, Job>();
  for (const [client, { warmUp, maxTasks = tasks }] of Object.entries<Client>(clients)) {
    if (isClientName(client)) {
      const count = Math.min(tasks, maxTasks);
      jobs.set(client, { measure: 'time', client, tasks: count, repeat: 1, warmUp });
    }
  }
  const stream = { client: 'headgate-throttle', repeat: 1, warmUp: 20_000 } as const;
  const waiting = { ...stream, measure: 'memory', tasks: 200_000 } as const;
  // The short streams have as many requests together as the long one, so that the share of requests
  // in code that is not yet compiled is the same.
  jobs.set('per-request-10k', { ...stream, measure: 'time', tasks: 10_000, repeat: 100 });
  jobs.set('per-request-1M', { ...stream, measure: 'time', tasks: 1_000_000 });
  jobs.set('waiting-request', waiting);
  jobs.set('waiting-run', { ...waiting, client: 'headgate-run' });
  jobs.set('waiting-request-all', { ...waiting, client: 'headgate-throttle-all' });
  jobs.set('waiting-run-all', { ...waiting, client: 'headgate-run-all' });
  const keys = { measure: 'keys', tasks: 200_000, repeat: 1, warmUp: 20_000 } as const;
  jobs.set('keys-100', { ...keys, keys: 100 });
  jobs.set('keys-10k', { ...keys, keys: 10_000 });
  const http = {
    measure: 'http',
    hasSignals: false,
    tasks: 6_000,
    repeat: 1,
    warmUp: 2_000,
  } as const;
  jobs.set('http-p-limit', { ...http, client: 'p-limit' });
  jobs.set('http-throttle', { ...http, client: 'throttle' });
  jobs.set('http-limiter-fetch', { ...http, client: 'limiter.fetch' });
  jobs.set('http-p-limit-signal', { ...http, client: 'p-limit', hasSignals: true });
  jobs.set('http-limiter-fetch-signal', { ...http, client: 'limiter.fetch', hasSignals: true });
  jobs.set('bare-span', { measure: 'span', tasks: 1_000_000, repeat: 1, warmUp: 100_000 });
  jobs.set('bare-records', { measure: 'records', tasks: 1_000_000, repeat: 1, warmUp: 100_000 });
  for (const client of gateNames) {
    jobs.set(client, { ...stream, measure: 'time', client, tasks: 200_000 });
  }
  for (const client of watchNames) {
    jobs.set(client, { ...stream, measure: 'time', client, tasks: 200_000, repeat: WATCHED_RUNS });
  }
  for (const crowd of CROWDS) {
    for (const operation of OPERATIONS) {
      for (const [size, waiters] of SIZES) {
        jobs.set(`${crowd}-${operation}-${size}`, {
          measure: 'waiters',
          crowd,
          operation,
          waiters,
          tasks: operation === 'abort' ? ABORTS : OPERATIONS_TIMED,
          repeat: 1,
          warmUp: OPERATIONS_WARM_UP,
        });
      }
    }
  }
  return jobs;
}

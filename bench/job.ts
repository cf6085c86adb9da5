/** What a worker process is asked, and what it answers. */
import type { ClientName } from './clients/index.ts';
import type { GateName } from './gates.ts';
import type { WatchName } from './watching.ts';

/** Runs tasks through a client: how long each takes. */
export interface TimeJob {
  readonly measure: 'time';
  readonly client: ClientName | GateName | WatchName;
  readonly tasks: number;
  /** How often the tasks are run, one run after the other. */
  readonly repeat: number;
  readonly warmUp: number;
}

/** Makes requests wait at a client: how many bytes each holds. */
export interface MemoryJob {
  readonly measure: 'memory';
  readonly client: ClientName;
  /** Requests that wait. */
  readonly tasks: number;
  readonly repeat: 1;
  readonly warmUp: number;
}

export const CROWDS = ['slots', 'rate'] as const;
export const OPERATIONS = ['run', 'urgent', 'abort', 'configure', 'snapshot', 'give-back'] as const;

/** Does something to a limiter at which many wait: how long that takes. */
export interface WaitersJob {
  readonly measure: 'waiters';
  /** What they wait for: a slot, or a rate limit. */
  readonly crowd: (typeof CROWDS)[number];
  readonly operation: (typeof OPERATIONS)[number];
  readonly waiters: number;
  /** Operations. */
  readonly tasks: number;
  readonly repeat: 1;
  readonly warmUp: number;
}

/** Sends requests of many keys through a group of limiters: how long each takes. */
export interface KeysJob {
  readonly measure: 'keys';
  readonly keys: number;
  readonly tasks: number;
  readonly repeat: 1;
  readonly warmUp: number;
}

/** Sends requests to a server over HTTP: how long each takes. */
export interface HttpJob {
  readonly measure: 'http';
  readonly client: 'p-limit' | 'throttle' | 'limiter.fetch';
  /** Whether each call has an AbortSignal of its own. */
  readonly hasSignals: boolean;
  readonly tasks: number;
  readonly repeat: 1;
  readonly warmUp: number;
}

/** Starts and ends spans that are not sampled: how long each takes. */
export interface SpanJob {
  readonly measure: 'span';
  readonly tasks: number;
  readonly repeat: 1;
  readonly warmUp: number;
}

/** Records what a request records in histograms: how long the SDK takes for one request. */
export interface RecordsJob {
  readonly measure: 'records';
  readonly tasks: number;
  readonly repeat: 1;
  readonly warmUp: number;
}

export type Job = TimeJob | MemoryJob | WaitersJob | KeysJob | HttpJob | SpanJob | RecordsJob;

/** Nanoseconds a task (`time`, `keys`, `http`, `span`, `records`) or operation (`waiters`), or bytes a waiting request (`memory`). */
export interface Measured {
  readonly perTask: number;
}

/** The largest number of tasks that may run at once, for every client. */
export const CONCURRENCY = 100;

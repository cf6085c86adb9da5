/** The jobs of a worker process, and its replies. */
import type { ClientName } from './clients/index.ts';
import type { GateName } from './gates.ts';
import type { WatchName } from './watching.ts';

/** Measures the time of a task that runs through a client. */
export interface TimeJob {
  readonly measure: 'time';
  readonly client: ClientName | GateName | WatchName;
  readonly tasks: number;
  /** The number of runs, one after another. */
  readonly repeat: number;
  readonly warmUp: number;
}

/** Measures the memory of a waiting request. */
export interface MemoryJob {
  readonly measure: 'memory';
  readonly client: ClientName;
  /** The number of waiting requests. */
  readonly tasks: number;
  readonly repeat: 1;
  readonly warmUp: number;
}

export const CROWDS = ['slots', 'rate'] as const;
export const OPERATIONS = ['run', 'urgent', 'abort', 'configure', 'snapshot', 'give-back'] as const;

/** Measures the time of an operation on a limiter with many waiting requests. */
export interface WaitersJob {
  readonly measure: 'waiters';
  /** What the requests wait for: a slot, or a rate limit. */
  readonly crowd: (typeof CROWDS)[number];
  readonly operation: (typeof OPERATIONS)[number];
  readonly waiters: number;
  /** The number of operations. */
  readonly tasks: number;
  readonly repeat: 1;
  readonly warmUp: number;
}

/** Measures the time of a request through a group of limiters with many keys. */
export interface KeysJob {
  readonly measure: 'keys';
  readonly keys: number;
  readonly tasks: number;
  readonly repeat: 1;
  readonly warmUp: number;
}

/** Measures the time of a request to a server over HTTP. */
export interface HttpJob {
  readonly measure: 'http';
  readonly client: 'p-limit' | 'throttle' | 'limiter.fetch';
  /** Whether each call has its own AbortSignal. */
  readonly hasSignals: boolean;
  readonly tasks: number;
  readonly repeat: 1;
  readonly warmUp: number;
}

/** Measures the time of starting and ending a span that is not sampled. */
export interface SpanJob {
  readonly measure: 'span';
  readonly tasks: number;
  readonly repeat: 1;
  readonly warmUp: number;
}

/** Measures the time in which an SDK records the histogram values of one request. */
export interface RecordsJob {
  readonly measure: 'records';
  readonly tasks: number;
  readonly repeat: 1;
  readonly warmUp: number;
}

export type Job = TimeJob | MemoryJob | WaitersJob | KeysJob | HttpJob | SpanJob | RecordsJob;

/**
 * Nanoseconds a task (`time`, `keys`, `http`, `span`, `records`) or operation (`waiters`), or bytes
 * a waiting request (`memory`).
 */
export interface Measured {
  readonly perTask: number;
}

/** The largest number of tasks that may run at once, for every client. */
export const CONCURRENCY = 100;

import {
  integer,
  number,
  type Option,
  type OptionGroup,
  type OptionTable,
  orInfinity,
  upTo,
  word,
} from '../policies/option.ts';
import { DEFAULT_MILESTONE_PERCENT } from '../policies/progress.ts';
import { POLICIES, type PolicyConfig, type PolicyLayer } from '../policies/registry.ts';
import { DEFAULT_ATTEMPT_TIMEOUT_MS, DEFAULT_FAILED_ATTEMPTS } from '../policies/retry.ts';

/** The waiting time that counts as one step of priority: 10 s. */
export const DEFAULT_AGING_MS = 10_000;

/** The options that belong to no policy: waiting, retries, and progress. */
export interface RequestConfig {
  /**
   * The greatest number of waiting requests, at all gates together, an integer >= 0. Retries count,
   * but are never refused. Default, and Infinity: no bound.
   */
  readonly maxQueue?: number;
  /**
   * Which request fails when the queue is full: the newcomer (`error`, default, and `drop-newest`),
   * or the oldest. No effect without `maxQueue`, which another source, or `configure`, may add.
   */
  readonly overflow?: 'error' | 'drop-oldest' | 'drop-newest';
  /**
   * How long a request may wait for its first attempt, in ms, >= 1. Default, and Infinity: no
   * bound.
   */
  readonly waitTimeoutMs?: number;
  /**
   * The waiting time that makes up for one step of priority, in ms, >= 1: at each gate a request of
   * priority p is overtaken only by requests of a higher priority q that arrive less than (q - p) x
   * `agingMs` after it. Infinity: a higher priority always goes first. Default 10,000.
   */
  readonly agingMs?: number;
  /**
   * The greatest number of attempts of a request, without failed connections, an integer >= 1; 1
   * turns all retries off. Default, and Infinity: no bound for 429, 503 and 529.
   */
  readonly maxAttempts?: number;
  /**
   * Attempts for a request that meets 408, 409 or a 5xx but 503 and 529, or a timeout, an integer
   * >= 1; Infinity: no bound. Default 3.
   */
  readonly failedAttempts?: number;
  /**
   * How long an attempt may take with its body, in ms, >= 1; Infinity: no bound. Default 600,000.
   */
  readonly attemptTimeoutMs?: number;
  /**
   * How long a request may take, from its arrival to its result, in ms, >= 1: waiting, in an
   * attempt and between attempts. Then it fails with a `DeadlineExceededError`. Default, and
   * Infinity: no bound.
   */
  readonly deadlineMs?: number;
  /** How many requests there will be, an integer >= 0, for progress and ETA. Default: unknown. */
  readonly total?: number;
  /** Per cent between two milestones of progress, an integer from 1 to 100. Default 10. */
  readonly milestonePercent?: number;
}

/** The plain-data options of a limiter, which a file or the environment may contain. */
export interface LimiterConfig extends PolicyConfig, RequestConfig {}

/**
 * The options of one of several sources, where fields may be missing that another source completes.
 */
export interface LimiterLayer extends PolicyLayer, RequestConfig {}

/** The options of {@link RequestConfig}. */
export const REQUEST_OPTIONS = {
  maxQueue: orInfinity(integer(0, 'no bound', 'requests', 'most requests that wait')),
  overflow: word(
    ['error', 'drop-oldest', 'drop-newest'],
    'error',
    'which request is given up when the queue is full',
  ),
  waitTimeoutMs: orInfinity(
    number(1, 'off', 'ms', 'how long a request may wait for its first attempt'),
  ),
  agingMs: orInfinity(
    number(1, DEFAULT_AGING_MS, 'ms', 'waiting time that makes up for one step of priority'),
  ),
  maxAttempts: orInfinity(
    integer(1, 'no bound', 'attempts', 'most attempts of a request, without failed connections'),
  ),
  failedAttempts: orInfinity(
    integer(
      1,
      DEFAULT_FAILED_ATTEMPTS,
      'attempts',
      'most attempts that fail with 408, 409, a timeout, or a 5xx other than 503 and 529',
    ),
  ),
  attemptTimeoutMs: orInfinity(
    number(1, DEFAULT_ATTEMPT_TIMEOUT_MS, 'ms', 'how long an attempt may take, its body included'),
  ),
  deadlineMs: orInfinity(
    number(1, 'off', 'ms', 'how long a request may take, from its arrival to its result'),
  ),
  total: integer(0, 'unknown', 'requests', 'expected number of requests, for progress and ETA'),
  milestonePercent: upTo(
    100,
    integer(1, DEFAULT_MILESTONE_PERCENT, '%', 'progress between two milestones'),
  ),
} satisfies Record<keyof RequestConfig, Option>;

/** All plain-data options of a limiter, in the order of the documentation. */
export const TABLE: OptionTable = Object.assign(
  {},
  ...Object.values(POLICIES).map(({ options }) => options),
  REQUEST_OPTIONS,
);

/** The placeholder for the name of a limit in a path. */
export const NAME = '<name>';

/** An option and its path: `concurrency`, `backoff.backoffMs`, `limits.<name>.limit`. */
export interface Row {
  readonly path: string;
  readonly option: Option;
}

/** The table by its keys. */
export const ENTRIES: readonly (readonly [key: string, entry: Option | OptionGroup])[] =
  Object.entries(TABLE);

/** The keys of a limiter's plain options. */
export const KEYS: readonly string[] = Object.keys(TABLE);

/** Every option. */
export const ROWS: readonly Row[] = ENTRIES.flatMap(([key, entry]) =>
  isGroup(entry) ? rowsOf(key, entry) : [{ path: key, option: entry }],
);

export function isGroup(entry: Option | OptionGroup): entry is OptionGroup {
  return 'fields' in entry;
}

function rowsOf(key: string, { fields, alone, isNamed }: OptionGroup): Row[] {
  const start = isNamed ? `${key}.${NAME}` : key;
  const rows = Object.entries(fields).map(([field, option]) => ({
    path: `${start}.${field}`,
    option,
  }));
  return alone === undefined ? rows : [{ path: key, option: alone }, ...rows];
}

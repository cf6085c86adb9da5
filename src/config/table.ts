import {
  DEFAULT_BACKOFF_MS,
  DEFAULT_LARGE_BACKOFF_MS,
  DEFAULT_MAX_RETRY_AFTER_MS,
  DEFAULT_THROTTLED_FOR_MS,
} from '../core/backoff.ts';
import { DEFAULT_MAX_BYTES, DEFAULT_THROTTLED_BYTE_FACTOR } from '../core/byte-budget.ts';
import {
  DEFAULT_CONSECUTIVE_FAILURES,
  DEFAULT_HALF_OPEN_PROBES,
  DEFAULT_OPEN_MS,
} from '../core/circuit-breaker.ts';
import { DEFAULT_INTERVAL_MS, DEFAULT_MAX_INTERVAL_MS } from '../core/interval.ts';
import { DEFAULT_JITTER, type PaceOptions } from '../core/pace.ts';
import { DEFAULT_MILESTONE_PERCENT } from '../core/progress.ts';
import type { RateLimit } from '../core/rate-limit/rate-limit.ts';
import { DEFAULT_CONCURRENCY, DEFAULT_THROTTLED_CONCURRENCY } from '../core/slots.ts';
import { ADAPTIVE, STRATEGIES } from './adaptive-table.ts';
import {
  type BackoffConfig,
  type CircuitBreakerConfig,
  DEFAULT_AGING_MS,
  type LimiterConfig,
} from './limiter-config.ts';
import { flag, integer, number, type Option, orInfinity, turnOn, upTo, word } from './option.ts';

/** Options that belong together, each by its key. */
export interface Group {
  readonly fields: Readonly<Record<string, Option>>;
  /** What may be given in place of them. */
  readonly alone?: Option;
  /** The key that this stands for, if it does for one. */
  readonly aloneIs?: string;
  /** Keys that cannot be left out. */
  readonly required?: readonly string[];
  /** Whether there are any number of such groups, each by a name. */
  readonly isNamed?: boolean;
}

const BACKOFF = {
  backoffMs: integer(1, DEFAULT_BACKOFF_MS, 'ms', 'wait after a 429 that names none'),
  largeBackoffMs: integer(1, DEFAULT_LARGE_BACKOFF_MS, 'ms', 'the same, above 128 KiB'),
  maxRetryAfterMs: number(
    1,
    DEFAULT_MAX_RETRY_AFTER_MS,
    'ms',
    'longest wait that a provider may ask for',
  ),
  throttledForMs: number(
    0,
    DEFAULT_THROTTLED_FOR_MS,
    'ms',
    'throttled mode outlasts the backoff by this',
  ),
  reopen: word(['probe', 'all'], 'probe', 'who goes first after a backoff: one, or all at once'),
} satisfies Record<keyof BackoffConfig, Option>;

const LIMIT = {
  limit: number(1, 'required', "the limit's own", 'what one window allows'),
  windowMs: number(1, 'required', 'ms', 'the window'),
  algorithm: word(
    ['sliding-window', 'token-bucket', 'fixed-window'],
    'sliding-window',
    'how it counts over time',
  ),
  burst: number(1, '`limit`', "the limit's own", 'what a token bucket holds; for no other'),
  charge: word(
    ['upfront', 'settle', 'actual'],
    'upfront',
    'charged before, corrected after, or charged after',
  ),
} satisfies Record<keyof RateLimit, Option>;

const PACE = {
  intervalMs: number(0, DEFAULT_INTERVAL_MS, 'ms', 'least time between two dispatches'),
  maxIntervalMs: number(
    0,
    DEFAULT_MAX_INTERVAL_MS,
    'ms',
    'what doubling stops at; `intervalMs` if that is longer',
  ),
  jitter: upTo(1, number(0, DEFAULT_JITTER, '× interval', 'how much chance may add')),
} satisfies Record<keyof PaceOptions, Option>;

const CIRCUIT_BREAKER = {
  consecutiveFailures: integer(
    1,
    DEFAULT_CONSECUTIVE_FAILURES,
    'requests',
    'failures in a row that open the circuit',
  ),
  openMs: number(0, DEFAULT_OPEN_MS, 'ms', 'how long it stays open at first'),
  halfOpenProbes: integer(
    1,
    DEFAULT_HALF_OPEN_PROBES,
    'requests',
    'probes that have to go well to close it',
  ),
  onOpen: word(['fail', 'wait'], 'fail', 'what requests do while it is open'),
} satisfies Record<keyof CircuitBreakerConfig, Option>;

/** Every option of a limiter that is plain data, in the order in which they are documented. */
export const TABLE = {
  concurrency: integer(1, DEFAULT_CONCURRENCY, 'requests', 'in flight at the most'),
  throttledConcurrency: integer(
    1,
    DEFAULT_THROTTLED_CONCURRENCY,
    'requests',
    'the same for those admitted in throttled mode',
  ),
  maxBytes: integer(0, DEFAULT_MAX_BYTES, 'bytes', 'in flight before requests wait'),
  throttledByteFactor: number(
    1,
    DEFAULT_THROTTLED_BYTE_FACTOR,
    '× size',
    'what a request is charged in throttled mode',
  ),
  backoff: { fields: BACKOFF },
  requestsPerMinute: number(1, 'off', 'requests', 'short for `limits.requests` a minute'),
  tokensPerMinute: number(1, 'off', 'tokens', 'short for `limits.tokens` a minute, settled'),
  limits: { fields: LIMIT, required: ['limit', 'windowMs'], isNamed: true },
  onLimit: word(['wait', 'fail'], 'wait', 'what a request does that does not fit its rate limits'),
  refundRejected: flag(false, 'whether a 429 gives back what its request was charged'),
  pace: { fields: PACE },
  circuitBreaker: { fields: CIRCUIT_BREAKER, alone: turnOn('the circuit breaker, with defaults') },
  adaptive: {
    fields: ADAPTIVE,
    alone: word(
      [...STRATEGIES, false],
      'rate',
      'adapts the rate, from the first 429 or told limit on, or the concurrency',
    ),
    aloneIs: 'strategy',
    required: ['strategy'],
  },
  maxQueue: orInfinity(integer(0, 'no bound', 'requests', 'that may wait')),
  overflow: word(['error', 'drop-oldest', 'drop-newest'], 'error', 'who goes when one more comes'),
  waitTimeoutMs: orInfinity(
    number(1, 'off', 'ms', 'how long a request may wait for its first attempt'),
  ),
  agingMs: number(1, DEFAULT_AGING_MS, 'ms', 'waiting that makes up for one step of priority'),
  maxAttempts: integer(1, 'no bound', 'attempts', 'a request at the most'),
  deadlineMs: number(0, 'off', 'ms', 'since arrival; no retry starts later'),
  total: integer(0, 'unknown', 'requests', 'how many there will be, for progress and ETA'),
  milestonePercent: upTo(
    100,
    integer(1, DEFAULT_MILESTONE_PERCENT, '%', 'between two milestones of progress'),
  ),
} satisfies Record<keyof LimiterConfig, Option | Group>;

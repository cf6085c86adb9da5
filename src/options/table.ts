import type { Option, OptionTable } from '../policies/option.ts';
import { integer, number, orInfinity, upTo, word } from '../policies/option.ts';
import { DEFAULT_MILESTONE_PERCENT } from '../policies/progress.ts';
import { POLICIES } from '../policies/registry.ts';
import { DEFAULT_ATTEMPT_TIMEOUT_MS, DEFAULT_FAILED_ATTEMPTS } from '../policies/retry.ts';
import { DEFAULT_AGING_MS, type RequestConfig } from './limiter-config.ts';

const REQUEST_OPTIONS = {
  maxQueue: orInfinity(integer(0, 'no bound', 'requests', 'that may wait')),
  overflow: word(['error', 'drop-oldest', 'drop-newest'], 'error', 'who goes when one more comes'),
  waitTimeoutMs: orInfinity(
    number(1, 'off', 'ms', 'how long a request may wait for its first attempt'),
  ),
  agingMs: number(1, DEFAULT_AGING_MS, 'ms', 'waiting that makes up for one step of priority'),
  maxAttempts: integer(1, 'no bound', 'attempts', 'a request at the most'),
  failedAttempts: integer(
    1,
    DEFAULT_FAILED_ATTEMPTS,
    'attempts',
    'a request that meets 408, 409, a 5xx but 503 and 529, or a timeout',
  ),
  attemptTimeoutMs: orInfinity(
    number(1, DEFAULT_ATTEMPT_TIMEOUT_MS, 'ms', 'how long an attempt may take, its body included'),
  ),
  deadlineMs: number(1, 'off', 'ms', 'how long a request may take, from its arrival to its result'),
  total: integer(0, 'unknown', 'requests', 'how many there will be, for progress and ETA'),
  milestonePercent: upTo(
    100,
    integer(1, DEFAULT_MILESTONE_PERCENT, '%', 'between two milestones of progress'),
  ),
} satisfies Record<keyof RequestConfig, Option>;

/** All plain-data options of a limiter, in the order of the documentation. */
export const TABLE: OptionTable = Object.assign(
  {},
  ...Object.values(POLICIES).map(({ options }) => options),
  REQUEST_OPTIONS,
);

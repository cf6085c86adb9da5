import { checkLimiterConfig } from '../config/check-config.ts';
import {
  BACKOFF_KEYS,
  type BackoffOptions,
  checkBackoffOptions,
  FeedbackSubject,
} from '../feedback/feedback-subject.ts';
import { checkKeys } from '../model/check.ts';
import { adaptiveChoice, isAdaptiveRate } from './adaptive-policy.ts';
import { ATTEMPT_KEYS, type AttemptOptions } from './attempt-options.ts';
import { COMMON_KEYS, type CommonOptions, type ResolvedOptions } from './common-options.ts';
import {
  BYTE_BUDGET_KEYS,
  type ByteBudgetOptions,
  byteBudgetOf,
  CONCURRENCY_KEYS,
  type ConcurrencyOptions,
  checkByteBudgetOptions,
  checkConcurrencyOptions,
  slotsOf,
} from './hold-options.ts';
import { QUEUE_KEYS, type QueueOptions, Queues } from './queue-options.ts';
import { RequestGate, type RequestGateExtras } from './request-gate.ts';
import type { RetryOptions } from './send-options.ts';

/** The limits of one API: the options of all policies. */
export interface GateOptions
  extends ConcurrencyOptions,
    ByteBudgetOptions,
    AttemptOptions,
    QueueOptions,
    CommonOptions {
  /**
   * How long to back off after a 429; the rate does not adapt then, unless `adaptive` says so.
   * Excludes `feedback`, which has a backoff of its own.
   */
  readonly backoff?: Omit<BackoffOptions, 'clock' | 'probe'>;
}

export const GATE_KEYS = [
  ...CONCURRENCY_KEYS,
  ...BYTE_BUDGET_KEYS,
  ...ATTEMPT_KEYS,
  ...QUEUE_KEYS,
  ...COMMON_KEYS,
  'backoff',
] as const;

/** What waits at a rate that adapts needs no probe after a 429. */
const PACED_BACKOFF = { reopen: 'all' } as const;

/**
 * Returns what opens gates, of common options that were checked; it checks what needs no policy for that.
 * Opening one checks the rest.
 * @throws RangeError or TypeError that names a wrong option
 */
export function gateOpener(
  options: GateOptions & Pick<RetryOptions, 'random' | 'deadlineMs'>,
): (around: ResolvedOptions, extras?: RequestGateExtras) => RequestGate {
  checkConcurrencyOptions(options);
  checkByteBudgetOptions(options);
  checkPlainOptions(options);
  if (options.feedback !== undefined && options.backoff !== undefined) {
    throw new TypeError(
      '`backoff` and `feedback` exclude each other: give `backoff` to the feedback',
    );
  }
  if (options.backoff !== undefined) checkKeys('backoff', options.backoff, BACKOFF_KEYS);
  const adaptive = adaptiveChoice(options);
  const isPaced = isAdaptiveRate(adaptive);
  const backoff = {
    ...(isPaced && PACED_BACKOFF),
    ...options.backoff,
  };
  checkBackoffOptions(backoff);
  const { random = Math.random } = options;
  return (around, extras = {}) => {
    const { clock, probe } = around;
    const feedback =
      around.feedback ??
      new FeedbackSubject({ ...backoff, clock, ...(probe !== undefined && { probe }) });
    return new RequestGate(
      { ...options, adaptive },
      {
        clock,
        random,
        probe,
        feedback,
        // Throttled mode changes no limits where the rate adapts.
        slots: slotsOf(options, isPaced ? undefined : feedback),
        bytes: byteBudgetOf(options, isPaced ? undefined : feedback),
        queues: new Queues(options, clock),
        extras,
      },
    );
  };
}

/** Checks by the table of options what is plain data: a limit may be a stream of limits here. */
function checkPlainOptions(options: GateOptions): void {
  const { concurrency, maxBytes, ...rest } = options;
  const plain = {
    ...rest,
    ...(typeof concurrency === 'number' && { concurrency }),
    ...(typeof maxBytes === 'number' && { maxBytes }),
  };
  checkLimiterConfig('throttle', plain, Object.keys(rest));
}

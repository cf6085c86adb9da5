import type { SharedStore } from '../fleet/shared-store.ts';
import type { Verdict } from '../model/feedback.ts';
import { checkLimiterConfig } from '../options/check-config.ts';
import { DEFAULT_AGING_MS, type LimiterConfig } from '../options/limiter-config.ts';
import { adaptiveChoice, isAdaptiveRate } from '../policies/adaptive.ts';
import type { BackoffOption } from '../policies/backoff-policy.ts';
import type { ByteBudgetConfig } from '../policies/byte-budget-policy.ts';
import type { CircuitBreakerConfig } from '../policies/circuit-breaker-policy.ts';
import type { ConcurrencyConfig } from '../policies/concurrency-policy.ts';
import type { RateLimitConfig } from '../policies/rate-limit/definition.ts';
import { POLICIES, type PolicyConfig } from '../policies/registry.ts';
import { RetryPolicy } from '../policies/retry.ts';
import type { QueueRules } from '../queue/gate-rules.ts';
import { PriorityQueue } from '../queue/priority-queue.ts';
import { QueueCapacity, queueBound } from '../queue/queue-capacity.ts';
import { WaitTimeouts } from '../queue/wait-timeouts.ts';
import { priorityOf } from '../queue/waiting-requests.ts';
import { checkFunction, checkKeys, checkMethods, checkNumber, show } from '../util/check.ts';
import type { Clock } from '../util/clock.ts';
import type { Timeouts } from '../util/timeouts.ts';
import { BACKOFF_KEYS, checkBackoffOptions, PROVIDER_KEYS } from './backoff-options.ts';
import { COMMON_KEYS, type CommonOptions, type ResolvedOptions } from './common-options.ts';
import { FeedbackSubject } from './feedback-subject.ts';
import {
  type ByteBudgetOptions,
  type ConcurrencyOptions,
  checkByteBudgetOptions,
  checkConcurrencyOptions,
  numberIn,
} from './hold-options.ts';
import { RequestGate, type RequestGateExtras, reporterOf } from './request-gate.ts';
import { attemptTimeoutsOf, classifierOf, type RetryOptions } from './send-options.ts';

/** Rate limits, each by its name. */
export type RateLimitOptions = Pick<RateLimitConfig, 'limits' | 'onLimit' | 'refundRejected'>;

/** Options of the circuit breaker. */
export type CircuitOptions = CircuitBreakerConfig;

/** The policies that are asked for each attempt, beside the backoff, as one decision. */
export interface AttemptOptions
  extends Omit<
    PolicyConfig,
    keyof ConcurrencyConfig | keyof ByteBudgetConfig | keyof BackoffOption
  > {
  /**
   * Whether an answer counts as a failure, for `circuitBreaker` and `adaptive`. Default: 5xx and
   * connection errors, and 429s for `adaptive` only. Its errors are contained.
   */
  readonly isFailure?: (verdict: Verdict) => boolean;
}

/** How requests wait. */
export type QueueOptions = Pick<
  LimiterConfig,
  'maxQueue' | 'overflow' | 'waitTimeoutMs' | 'agingMs'
>;

/** What a gate shares with those of other processes. */
export interface SharedOption {
  /**
   * Where several workers of one key meet, such as `redisStore` of `headgate/redis`: the limits are
   * then those of all workers together. Default: they are its own.
   */
  readonly shared?: SharedStore;
}

/** The limits of one API: the options of all policies. */
export interface GateOptions
  extends ConcurrencyOptions,
    ByteBudgetOptions,
    AttemptOptions,
    QueueOptions,
    CommonOptions,
    BackoffOption,
    SharedOption {}

export const GATE_KEYS: readonly string[] = [
  ...Object.values(POLICIES).flatMap(({ options }) => Object.keys(options)),
  'isFailure',
  'shared',
  'maxQueue',
  'overflow',
  'waitTimeoutMs',
  'agingMs',
  ...COMMON_KEYS,
];

/** What waits at a rate that adapts needs no probe after a 429. */
const PACED_BACKOFF = { reopen: 'all' } as const;

interface GateExtras extends RequestGateExtras {
  /** Whether requests may have priorities. */
  readonly isPrioritized?: boolean;
  /** Those of other gates with the same clock, to be shared if attempts have the same time. */
  readonly timeouts?: Timeouts | undefined;
}

/**
 * Returns what opens gates, of common options that were checked; it checks what needs no policy for that.
 * Opening one checks the rest.
 * @throws RangeError or TypeError that names a wrong option
 */
export function gateOpener(
  options: GateOptions & RetryOptions,
): (around: ResolvedOptions, extras?: GateExtras) => RequestGate {
  checkConcurrencyOptions(options);
  checkByteBudgetOptions(options);
  const plain = plainOf(options);
  // What is no plain data is checked by those who know it.
  checkLimiterConfig('throttle', plain, Object.keys(options));
  const { isFailure, shared } = options;
  checkSharedOption(options);
  if (isFailure !== undefined) checkFunction('isFailure', isFailure);
  for (const key of ['backoff', ...PROVIDER_KEYS] as const) {
    if (options.feedback !== undefined && options[key] !== undefined) {
      throw new TypeError(
        `\`${key}\` and \`feedback\` exclude each other: give \`${key}\` to the feedback`,
      );
    }
  }
  if (options.backoff !== undefined) checkKeys('backoff', options.backoff, BACKOFF_KEYS);
  const adaptive = adaptiveChoice(options);
  const isPaced = isAdaptiveRate(adaptive);
  const { maxRetryAfterMs, onLongWait, outageMs, random = Math.random } = options;
  const backoff = {
    ...(isPaced && PACED_BACKOFF),
    ...options.backoff,
    ...(maxRetryAfterMs !== undefined && { maxRetryAfterMs }),
    ...(onLongWait !== undefined && { onLongWait }),
    ...(outageMs !== undefined && { outageMs }),
  };
  checkBackoffOptions(backoff);
  return (around, { isPrioritized = false, timeouts, ...extras } = {}) => {
    const { clock, instrumentation } = around;
    const feedback =
      around.feedback ??
      new FeedbackSubject({
        ...backoff,
        clock,
        ...(instrumentation !== undefined && { instrumentation }),
      });
    const setPaced = (isPaced: boolean) => {
      // One that others share keeps the rules that it was made with.
      if (around.feedback !== undefined) return;
      feedback.setBackoff({ ...(isPaced && PACED_BACKOFF), ...options.backoff });
    };
    const report = reporterOf({ ...extras, instrumentation });
    return new RequestGate(
      { ...plain, adaptive },
      {
        clock,
        random,
        name: options.name,
        instrumentation,
        feedback,
        isFailure,
        queues: queueRulesOf(options, clock, isPrioritized),
        retry: new RetryPolicy(options, isPaced),
        classify: classifierOf(options),
        timeouts: attemptTimeoutsOf(options, clock, timeouts),
        setPaced,
        fleet: shared?.join(shared, report, instrumentation, extras.peers),
        // Last, as in a snapshot: V8 is slow where many properties follow a spread.
        ...extras,
      },
    );
  };
}

/** @throws RangeError or TypeError that names a wrong option */
export function queueRulesOf(
  options: QueueOptions & Pick<LimiterConfig, 'deadlineMs'>,
  clock: Clock,
  isPrioritized: boolean,
): QueueRules {
  const { maxQueue, overflow, agingMs = DEFAULT_AGING_MS } = options;
  const { waitTimeoutMs = Number.POSITIVE_INFINITY, deadlineMs } = options;
  if (waitTimeoutMs !== Number.POSITIVE_INFINITY) checkNumber('waitTimeoutMs', waitTimeoutMs, 1);
  checkNumber('agingMs', agingMs, 1);
  return {
    capacity: new QueueCapacity(queueBound(maxQueue, overflow)),
    timeouts: new WaitTimeouts(waitTimeoutMs, clock, deadlineMs),
    newQueue: isPrioritized
      ? (isCancelled) => new PriorityQueue(isCancelled, { priorityOf, agingMs })
      : undefined,
  };
}

/** The options with the defaults of limits that are streams: these apply before the first value. */
function plainOf(options: GateOptions): PolicyConfig {
  const { concurrency, maxBytes, ...rest } = options;
  return { ...rest, ...numberIn({ concurrency }), ...numberIn({ maxBytes }) };
}

/** @throws RangeError or TypeError for what is no store, and for what cannot be shared */
export function checkSharedOption({
  shared,
  onLimit,
}: SharedOption & { readonly onLimit?: unknown }): void {
  if (shared === undefined) return;
  checkMethods('shared', shared, ['exchange', 'join']);
  if (onLimit === 'fail') {
    throw new TypeError(
      `\`onLimit\` must be 'wait' with \`shared\`: only the store knows what is left; got ${show(onLimit)}`,
    );
  }
}

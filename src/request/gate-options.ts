import { Observable, type Subscriber } from 'rxjs';
import type { SharedStore } from '../fleet/shared-store.ts';
import type { Verdict } from '../model/feedback.ts';
import { checkLimiterConfig } from '../options/check-config.ts';
import { DEFAULT_AGING_MS, type LimiterConfig } from '../options/limiter-config.ts';
import { adaptiveChoice, isAdaptiveRate } from '../policies/adaptive.ts';
import type { BackoffOption } from '../policies/backoff-policy.ts';
import { BYTE_BUDGET_OPTIONS, type ByteBudgetConfig } from '../policies/byte-budget-policy.ts';
import type { CircuitBreakerConfig } from '../policies/circuit-breaker-policy.ts';
import { CONCURRENCY_OPTIONS, type ConcurrencyConfig } from '../policies/concurrency-policy.ts';
import { checkValue } from '../policies/option.ts';
import type { RateLimitConfig } from '../policies/rate-limit/definition.ts';
import { POLICIES, type PolicyConfig } from '../policies/registry.ts';
import { DEFAULT_ATTEMPT_TIMEOUT_MS, RetryPolicy } from '../policies/retry.ts';
import { classifierOf } from '../providers/classify.ts';
import { PriorityQueue } from '../queue/priority-queue.ts';
import { QueueCapacity, type QueueRules, queueBound, WaitTimeouts } from '../queue/queue-rules.ts';
import { priorityOf } from '../queue/waiting-requests.ts';
import { checkFunction, checkMethods, show } from '../util/check.ts';
import type { Clock } from '../util/clock.ts';
import { Timeouts } from '../util/timeouts.ts';
import { COMMON_KEYS, type CommonOptions, type ResolvedOptions } from './common-options.ts';
import { FeedbackSubject } from './feedback-subject.ts';
import { RequestGate, type RequestGateExtras, reporterOf } from './request-gate.ts';
import type { RetryOptions } from './send-options.ts';

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

/** A limit, or a stream of limits. Each emitted limit applies at once. */
export type Adjustable = number | Observable<number>;

/** How many requests may be in flight. */
export interface ConcurrencyOptions {
  /**
   * The greatest number of requests in flight, an integer >= 1, or a stream of these. Default 400.
   */
  readonly concurrency?: Adjustable;
  /** How many of the requests that were admitted in throttled mode may be in flight. Default 10. */
  readonly throttledConcurrency?: number;
}

/** How many bytes may be in flight. */
export interface ByteBudgetOptions {
  /** Bytes in flight before requests wait, an integer >= 0, or a stream of these. Default 5 MiB. */
  readonly maxBytes?: Adjustable;
  /** The multiple of its size that a request is charged in throttled mode, >= 1. Default 20. */
  readonly throttledByteFactor?: number;
}

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
  const plain = withoutStreams(options);
  // What is no plain data is checked by those who know it.
  checkLimiterConfig('throttle', plain, Object.keys(options));
  const { isFailure, shared } = options;
  checkSharedOption(options);
  if (isFailure !== undefined) checkFunction('isFailure', isFailure);
  for (const key of ['backoff', 'maxRetryAfterMs', 'onLongWait', 'outageMs'] as const) {
    if (options.feedback !== undefined && options[key] !== undefined) {
      throw new TypeError(
        `\`${key}\` and \`feedback\` exclude each other: give \`${key}\` to the feedback`,
      );
    }
  }
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
    const { attemptTimeoutMs = DEFAULT_ATTEMPT_TIMEOUT_MS } = options;
    // They keep no process alive: what an attempt waits for does.
    const newTimeouts = () => new Timeouts(attemptTimeoutMs, clock, false);
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
        classify: classifierOf(options.classify),
        timeouts: attemptTimeoutMs === timeouts?.timeoutMs ? timeouts : newTimeouts(),
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
  return {
    capacity: new QueueCapacity(queueBound(maxQueue, overflow)),
    timeouts: new WaitTimeouts(waitTimeoutMs, clock, deadlineMs),
    newQueue: isPrioritized
      ? (isCancelled) => new PriorityQueue(isCancelled, { priorityOf, agingMs })
      : undefined,
  };
}

type AdjustableOptions = Pick<ConcurrencyOptions, 'concurrency'> &
  Pick<ByteBudgetOptions, 'maxBytes'>;

/** The options without limits that are streams: before their first value the defaults apply. */
export function withoutStreams<O extends AdjustableOptions>(
  options: O,
): Omit<O, keyof AdjustableOptions> & Pick<PolicyConfig, keyof AdjustableOptions> {
  const { concurrency, maxBytes, ...rest } = options;
  return {
    ...rest,
    ...(!(concurrency instanceof Observable) && { concurrency }),
    ...(!(maxBytes instanceof Observable) && { maxBytes }),
  };
}

/**
 * Applies the limits of a stream while `out` is subscribed. A wrong limit, or an error of the stream,
 * errors `out`; its completion leaves the last limit in force.
 */
export function followLimit(
  out: Subscriber<never>,
  options: AdjustableOptions,
  name: keyof AdjustableOptions,
  apply: (limit: number) => void,
): void {
  const limits = options[name];
  if (!(limits instanceof Observable)) return;
  const option = { ...CONCURRENCY_OPTIONS, ...BYTE_BUDGET_OPTIONS }[name];
  const next = (limit: number) => {
    try {
      checkValue(name, option, limit);
      apply(limit);
    } catch (error) {
      out.error(error);
    }
  };
  out.add(limits.subscribe({ next, error: (error) => out.error(error) }));
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

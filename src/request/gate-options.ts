import type { Observable, Subscriber } from 'rxjs';
import type { SharedStore } from '../fleet/shared-store.ts';
import type { Verdict } from '../model/feedback.ts';
import type { GaugeSnapshot } from '../model/gauge.ts';
import { checkInstrumentation, contain, type Instrumentation } from '../model/instrumentation.ts';
import type { LimiterConfig } from '../options/limiter-config.ts';
import type { BackoffOption } from '../policies/backoff-policy.ts';
import type { ByteBudgetConfig } from '../policies/byte-budget-policy.ts';
import type { CircuitBreakerConfig } from '../policies/circuit-types.ts';
import type { ConcurrencyConfig } from '../policies/concurrency-policy.ts';
import type { RateLimitConfig } from '../policies/rate-limit/definition.ts';
import { POLICIES, type PolicyConfig } from '../policies/registry.ts';
import { type InstrumentationOptions, telemetryAdder } from '../telemetry/telemetry.ts';
import { checkFunction, checkMethods, show, wrongType } from '../util/check.ts';
import { type Clock, checkClock, systemClock } from '../util/clock.ts';
import { FeedbackSubject } from './feedback-subject.ts';

/** Options of everything whose work can be observed. */
export interface ObservedOptions extends InstrumentationOptions {
  /** Receives each event, beside metrics and spans. Default: none. */
  readonly instrumentation?: Instrumentation;
}

/** Options of every gate and of `dispatch`. */
export interface CommonOptions extends ObservedOptions {
  /** The feedback whose backoff and mode apply. Operators that share one slow down together. */
  readonly feedback?: FeedbackSubject;
  /** Default: the clock of `feedback`, else real time. */
  readonly clock?: Clock;
}

export const OBSERVED_KEYS = ['instrumentation', 'name', 'telemetry'] as const;
export const COMMON_KEYS = ['feedback', 'clock', ...OBSERVED_KEYS] as const;

/** The same, checked and with defaults. */
export interface ResolvedOptions {
  readonly feedback: FeedbackSubject | undefined;
  readonly clock: Clock;
  readonly instrumentation: Instrumentation | undefined;
}

/** Common options that were checked. Their `instrumentation` is the user's alone. */
export interface CheckedOptions extends ResolvedOptions {
  /** Adds metrics and spans of the SDK that is registered at the call. */
  withTelemetry(): ResolvedOptions;
}

/** @throws TypeError that names a wrong option, also for a `feedback` that has another clock */
export function resolveCommonOptions(options: CommonOptions): CheckedOptions {
  const { feedback, clock } = options;
  if (feedback !== undefined && !(feedback instanceof FeedbackSubject)) {
    wrongType('feedback', 'a FeedbackSubject', feedback);
  }
  checkClock(clock);
  checkInstrumentation(options.instrumentation);
  const own = {
    feedback,
    clock: feedback?.clock ?? clock ?? systemClock,
    instrumentation: contain(options.instrumentation),
  };
  const withTelemetry = telemetryAdder(options, own);
  if (feedback !== undefined && clock !== undefined && feedback.clock !== clock) {
    throw new TypeError('`clock` must be the clock of `feedback`; leave it out');
  }
  return { ...own, withTelemetry };
}

/**
 * Shows the state of an operator in gauges, and that of the feedback it was given, while `out` is
 * subscribed.
 */
export function watchOperator(
  out: Subscriber<never>,
  { instrumentation, feedback }: ResolvedOptions,
  read?: () => GaugeSnapshot,
): void {
  if (instrumentation === undefined) return;
  if (feedback !== undefined) out.add(feedback.provider.users.show(instrumentation));
  if (read !== undefined) out.add(instrumentation.opened?.(read));
}

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

/** The limits that a gate shares with gates of other processes. */
export interface SharedOption {
  /**
   * A store that the workers of one API key share, such as `redisStore` of `headgate/redis`. The
   * limits then apply to all workers together. Default: they apply to this limiter or stream alone.
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
  /**
   * How many of the requests that were admitted in throttled mode may be in flight, an integer >=
   * 1. No effect under the adaptive rate. Default 10.
   */
  readonly throttledConcurrency?: number;
}

/** How many bytes may be in flight. */
export interface ByteBudgetOptions {
  /** Bytes in flight before requests wait, an integer >= 0, or a stream of these. Default 5 MiB. */
  readonly maxBytes?: Adjustable;
  /**
   * The multiple of its size that a request is charged in throttled mode, >= 1. No effect under the
   * adaptive rate. Default 20.
   */
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

/** Checks options that belong to no policy. @throws TypeError that names a wrong option */
export function checkGateOptions(options: GateOptions): void {
  checkSharedOption(options);
  if (options.isFailure !== undefined) checkFunction('isFailure', options.isFailure);
  for (const key of ['backoff', 'maxRetryAfterMs', 'onLongWait', 'outageMs'] as const) {
    if (options.feedback !== undefined && options[key] !== undefined) {
      throw new TypeError(
        `\`${key}\` and \`feedback\` exclude each other: give \`${key}\` to the feedback`,
      );
    }
  }
}

/**
 * @throws RangeError or TypeError for a value that is not a store, and for limits that cannot be
 * shared
 */
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

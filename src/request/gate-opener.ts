import { Observable, type Subscriber } from 'rxjs';
import { checkLimiterConfig } from '../options/check-config.ts';
import { DEFAULT_AGING_MS, type LimiterConfig } from '../options/limiter-config.ts';
import { adaptiveChoice, isAdaptiveRate } from '../policies/adaptive.ts';
import { BYTE_BUDGET_OPTIONS } from '../policies/byte-budget-policy.ts';
import { CONCURRENCY_OPTIONS } from '../policies/concurrency-policy.ts';
import { checkValue } from '../policies/option.ts';
import type { PolicyConfig } from '../policies/registry.ts';
import { DEFAULT_ATTEMPT_TIMEOUT_MS, RetryPolicy } from '../policies/retry.ts';
import { classifierOf } from '../providers/classify.ts';
import { PriorityQueue } from '../queue/priority-queue.ts';
import { QueueCapacity, type QueueRules, WaitTimeouts } from '../queue/queue-rules.ts';
import { priorityOf } from '../queue/waiting-requests.ts';
import type { Clock } from '../util/clock.ts';
import { Timeouts } from '../util/timers.ts';
import { FeedbackSubject } from './feedback-subject.ts';
import {
  type Adjustable,
  type ByteBudgetOptions,
  type ConcurrencyOptions,
  checkGateOptions,
  type GateOptions,
  type QueueOptions,
  type ResolvedOptions,
} from './gate-options.ts';
import type { RequestGateExtras } from './gate-parts.ts';
import { RequestGate, reporterOf } from './request-gate.ts';
import type { RetryOptions } from './send-options.ts';

/** An adaptive rate paces the requests after a 429, so they need no probe. */
const PACED_BACKOFF = { reopen: 'all' } as const;

interface GateExtras extends RequestGateExtras {
  /** Whether requests may have priorities. */
  readonly isPrioritized?: boolean;
  /**
   * The attempt timeouts of another gate with the same clock. They are shared if the timeout is
   * equal.
   */
  readonly timeouts?: Timeouts | undefined;
}

/**
 * Returns a function that opens gates, with common options that were checked. Options that no
 * policy checks are checked now, the others when a gate is opened.
 * @throws RangeError or TypeError that names a wrong option
 */
export function gateOpener(
  options: GateOptions & RetryOptions,
): (common: ResolvedOptions, extras?: GateExtras) => RequestGate {
  const plain = withoutStreams(options);
  // A stream of limits is checked as it emits them.
  checkLimiterConfig('throttle', plain, Object.keys(options));
  checkGateOptions(options);
  const { isFailure, shared } = options;
  const adaptive = adaptiveChoice(options);
  const isPaced = isAdaptiveRate(adaptive);
  const { maxRetryAfterMs, onLongWait, outageMs, random = Math.random } = options;
  const backoffOf = (isPaced: boolean) => ({ ...(isPaced && PACED_BACKOFF), ...options.backoff });
  const backoff = { ...backoffOf(isPaced), maxRetryAfterMs, onLongWait, outageMs };
  return (common, { isPrioritized = false, timeouts, ...extras } = {}) => {
    const { clock, instrumentation } = common;
    const feedback = common.feedback ?? new FeedbackSubject({ ...backoff, clock, instrumentation });
    const setPaced = (isPaced: boolean) => {
      // A feedback that others share keeps the rules that it was made with.
      if (common.feedback !== undefined) return;
      feedback.setBackoff(backoffOf(isPaced));
    };
    const { attemptTimeoutMs = DEFAULT_ATTEMPT_TIMEOUT_MS } = options;
    // These timers keep no process alive: the work that an attempt waits for does.
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
        // The spread comes last, as in a snapshot: V8 is slow if many properties follow a spread.
        ...extras,
      },
    );
  };
}

/** @param options checked before */
export function queueRulesOf(
  options: QueueOptions & Pick<LimiterConfig, 'deadlineMs'>,
  clock: Clock,
  isPrioritized: boolean,
): QueueRules {
  const { maxQueue = Number.POSITIVE_INFINITY, overflow = 'error' } = options;
  const { agingMs = DEFAULT_AGING_MS } = options;
  const { waitTimeoutMs = Number.POSITIVE_INFINITY, deadlineMs } = options;
  return {
    capacity: new QueueCapacity({ maxQueue, overflow }),
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
  const plain = (limit: Adjustable | undefined) =>
    limit instanceof Observable ? undefined : limit;
  return { ...rest, concurrency: plain(concurrency), maxBytes: plain(maxBytes) };
}

/**
 * Applies the limits of a stream while `out` is subscribed. A wrong limit, or an error of the
 * stream, errors `out`; after its completion the last limit stays.
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

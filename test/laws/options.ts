import type { Verdict } from '../../src/model/feedback.ts';
import type { Instrumentation } from '../../src/model/instrumentation.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import type { Setup } from './setup.ts';

/** Methods of probes that are traps. */
const TOLD = ['arrived', 'queued', 'admitted', 'attemptStarted', 'attemptEnded'] as const;
const TOLD_TOO = ['backoff', 'changed', 'settled'] as const;

/** Wait after a 429 that names none. */
export const BACKOFF_MS = 100;

interface Callbacks {
  /** A callback of this name is called. */
  spring(name: string): void;
  /** Whether an error is read that nobody sent. */
  isQuiet(): boolean;
}

/** Whether the rate adapts: with a backoff of its own it does not, unless that is said. */
export function isPaced({ adaptive }: Setup): boolean {
  return (typeof adaptive === 'object' ? adaptive.strategy : adaptive) === 'rate';
}

/** The options of a limiter, or of `throttle`, without what is undefined. */
export function optionsOf(setup: Setup, { spring, isQuiet }: Callbacks) {
  const { reopen, throttledForMs, onLimit, refundRejected, maxBytes } = setup;
  const { throttledConcurrency, throttledByteFactor, overflow, agingMs } = setup;
  const { maxQueue, waitTimeoutMs, maxAttempts, deadlineMs, pace, circuitBreaker, adaptive } =
    setup;
  const limits = Object.fromEntries(setup.limits);
  const isFailure = ({ kind }: Verdict) => {
    // Asked before the answer counts, which nothing must come between here.
    if (circuitBreaker === undefined) spring('isFailure');
    return kind === 'failed' || kind === 'overloaded';
  };
  const classify = () => {
    if (!isQuiet()) spring('classify');
    return undefined;
  };
  const told = [...TOLD, ...TOLD_TOO].map((name) => [name, () => spring(name)] as const);
  const instrumentation: Instrumentation = Object.fromEntries(told);
  return {
    backoff: { backoffMs: BACKOFF_MS, largeBackoffMs: BACKOFF_MS, reopen, throttledForMs },
    throttledConcurrency,
    throttledByteFactor,
    overflow,
    agingMs,
    classify,
    random: seededRandom(1),
    ...(maxBytes !== undefined && { maxBytes }),
    ...(setup.limits.length > 0 && { limits, onLimit, refundRejected }),
    ...(pace && { pace }),
    ...(circuitBreaker && { circuitBreaker }),
    ...(adaptive !== undefined && { adaptive }),
    ...(maxQueue !== undefined && { maxQueue }),
    ...(waitTimeoutMs !== undefined && { waitTimeoutMs }),
    ...(maxAttempts !== undefined && { maxAttempts }),
    ...(deadlineMs !== undefined && { deadlineMs }),
    attemptTimeoutMs: setup.attemptTimeoutMs ?? Number.POSITIVE_INFINITY,
    ...(setup.hasPredicate && { isFailure }),
    ...(setup.hasProbe && { instrumentation }),
  };
}

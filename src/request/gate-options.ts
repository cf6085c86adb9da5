import type { PolicyEvent } from '../model/policy-events.ts';
import { checkLimiterConfig } from '../options/check-config.ts';
import { adaptiveChoice, isAdaptiveRate } from '../policies/adaptive.ts';
import type { BackoffOption } from '../policies/backoff.ts';
import { POLICIES, type PolicyConfig } from '../policies/registry.ts';
import { checkFunction, checkKeys } from '../util/check.ts';
import type { AttemptOptions } from './attempt-options.ts';
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
import { QUEUE_KEYS, type QueueOptions, Queues } from './queue-options.ts';
import { RequestGate, type RequestGateExtras } from './request-gate.ts';
import type { RetryOptions } from './send-options.ts';
import { checkSharedOption, type SharedOption } from './shared-option.ts';

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
  ...QUEUE_KEYS,
  ...COMMON_KEYS,
];

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
  const plain = plainOf(options);
  // What is no plain data is checked by those who know it.
  checkLimiterConfig('throttle', plain, Object.keys(options));
  const { isFailure, shared } = options;
  checkSharedOption(options);
  if (isFailure !== undefined) checkFunction('isFailure', isFailure);
  if (options.feedback !== undefined && options.backoff !== undefined) {
    throw new TypeError(
      '`backoff` and `feedback` exclude each other: give `backoff` to the feedback',
    );
  }
  for (const key of PROVIDER_KEYS) {
    if (options.feedback !== undefined && options[key] !== undefined) {
      throw new TypeError(
        `\`${key}\` and \`feedback\` exclude each other: give \`${key}\` to the feedback`,
      );
    }
  }
  if (options.backoff !== undefined) checkKeys('backoff', options.backoff, BACKOFF_KEYS);
  const adaptive = adaptiveChoice(options);
  const isPaced = isAdaptiveRate(adaptive);
  const { maxRetryAfterMs, onLongWait, outageMs } = options;
  const backoff = {
    ...(isPaced && PACED_BACKOFF),
    ...options.backoff,
    ...(maxRetryAfterMs !== undefined && { maxRetryAfterMs }),
    ...(onLongWait !== undefined && { onLongWait }),
    ...(outageMs !== undefined && { outageMs }),
  };
  checkBackoffOptions(backoff);
  const { random = Math.random } = options;
  return (around, extras = {}) => {
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
    const emit = (fact: PolicyEvent) => {
      instrumentation?.changed?.(fact);
      extras.emit?.(fact);
    };
    return new RequestGate(
      { ...plain, adaptive },
      {
        clock,
        random,
        name: options.name,
        instrumentation,
        feedback,
        isFailure,
        queues: new Queues(options, clock),
        extras,
        setPaced,
        fleet: shared?.join(shared, emit, instrumentation, extras.peers),
      },
    );
  };
}

/** The options with the defaults of limits that are streams: these apply before the first value. */
function plainOf(options: GateOptions): PolicyConfig {
  const { concurrency, maxBytes, ...rest } = options;
  return { ...rest, ...numberIn({ concurrency }), ...numberIn({ maxBytes }) };
}

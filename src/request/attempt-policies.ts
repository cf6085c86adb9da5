import { CircuitBreaker } from '../core/circuit-breaker.ts';
import { CircuitCore } from '../core/circuit-core.ts';
import { isTrouble, judgeOf } from '../core/judge.ts';
import { Pace } from '../core/pace.ts';
import { RateCore } from '../core/rate-core.ts';
import type { RateLimit } from '../core/rate-limit/rate-limit.ts';
import { RateLimits } from '../core/rate-limit/rate-limits.ts';
import { checkBoolean, checkChoice, checkFunction } from '../model/check.ts';
import type { Random } from '../model/clock.ts';
import type { Tell } from '../model/facts.ts';
import { print } from '../model/print.ts';
import { type AdaptiveCore, adaptiveOf } from './adaptive-policy.ts';
import type { AttemptOptions, CircuitOptions, RateLimitOptions } from './attempt-options.ts';

const MINUTE_MS = 60_000;

/** What may make an attempt wait, or watches it; undefined: it is not on. */
export interface AttemptPolicies {
  readonly circuitBreaker: CircuitCore | undefined;
  readonly rateLimit: RateCore | undefined;
  readonly pace: Pace | undefined;
  readonly adaptive: AdaptiveCore | undefined;
}

/** What cores need from around them. */
export interface PolicySurroundings {
  readonly now: number;
  readonly random: Random;
  /** The highest concurrency. */
  readonly maxLimit: number;
  /** Longest wait that a provider may ask for. */
  readonly maxRetryAfterMs: number;
  /** Sets the concurrency limit. */
  readonly apply: (limit: number) => void;
  readonly tell: Tell;
  /** Whether a request may cost something of limits that are elsewhere. */
  readonly ignoreUnknown: boolean;
}

/** @throws RangeError or TypeError that names a wrong option */
export function attemptPoliciesOf(
  options: AttemptOptions,
  around: PolicySurroundings,
): AttemptPolicies {
  if (options.isFailure !== undefined) checkFunction('isFailure', options.isFailure);
  const { circuitBreaker, isFailure } = options;
  const rateLimit = rateCoreOf(options, around.tell, around.ignoreUnknown);
  const pace = options.pace && new Pace(options.pace, containedRandom(around.random));
  return {
    circuitBreaker:
      circuitBreaker === undefined
        ? undefined
        : circuitOf(circuitBreaker === true ? {} : circuitBreaker, isFailure, around.tell),
    rateLimit,
    pace,
    adaptive: adaptiveOf(options, around, pace?.interval, rateLimit),
  };
}

/**
 * Chance that cannot fail: the draw comes after other limits were charged, and what throws there, or
 * draws no number from 0 to 1, counts as 0.
 */
export function containedRandom(random: Random): Random {
  if (random === Math.random) return random;
  let warned = false;
  return () => {
    let why: unknown;
    try {
      const drawn = random();
      if (drawn >= 0 && drawn <= 1) return drawn;
      why = `it drew ${drawn}`;
    } catch (error) {
      why = error;
    }
    if (!warned) process.emitWarning(`headgate: \`random\` failed: ${print(why)}`);
    warned = true;
    return 0;
  };
}

/** The named limits, those of the short forms too. */
export function limitsOf(
  options: Pick<AttemptOptions, 'limits' | 'requestsPerMinute' | 'tokensPerMinute'>,
): Readonly<Record<string, RateLimit>> {
  const { limits, requestsPerMinute, tokensPerMinute } = options;
  return {
    ...limits,
    ...(requestsPerMinute !== undefined && {
      requests: { limit: requestsPerMinute, windowMs: MINUTE_MS },
    }),
    ...(tokensPerMinute !== undefined && {
      tokens: { limit: tokensPerMinute, windowMs: MINUTE_MS, charge: 'settle' },
    }),
  };
}

/** @param ignoreUnknown whether a request may cost something of limits that are elsewhere */
export function rateCoreOf(
  options: RateLimitOptions & Pick<AttemptOptions, 'requestsPerMinute' | 'tokensPerMinute'>,
  tell: Tell,
  ignoreUnknown: boolean,
): RateCore | undefined {
  const limits = limitsOf(options);
  if (options.limits === undefined && Object.keys(limits).length === 0) return undefined;
  const { onLimit = 'wait', refundRejected = false } = options;
  checkChoice('onLimit', onLimit, ['wait', 'fail']);
  checkBoolean('refundRejected', refundRejected);
  const rules = { onLimit, refundRejected, ignoreUnknown };
  return new RateCore(new RateLimits(limits), rules, tell);
}

/** @throws RangeError or TypeError that names a wrong option */
export function circuitOf(
  { onOpen = 'fail', ...options }: CircuitOptions,
  isFailure: AttemptOptions['isFailure'],
  tell: Tell,
): CircuitCore {
  checkChoice('onOpen', onOpen, ['fail', 'wait']);
  if (isFailure !== undefined) checkFunction('isFailure', isFailure);
  const judge = judgeOf(isFailure, isTrouble);
  return new CircuitCore(new CircuitBreaker(options), onOpen, judge, tell);
}

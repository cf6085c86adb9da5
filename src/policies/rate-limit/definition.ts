import type { PolicyMetric } from '../../model/gauge.ts';
import type { Emit } from '../../model/policy-events.ts';
import { flag, number, word } from '../option.ts';
import type { Naming, PolicyDefinition } from '../policy.ts';
import { RateLimitPolicy } from '../rate-limit-policy.ts';
import { checkBurst, LIMIT_FIELDS, type RateLimit, REQUIRED_FIELDS } from './rate-limit.ts';
import { RateLimits } from './rate-limits.ts';

const MINUTE_MS = 60_000;

/** Named rate limits, and the behaviour of requests that do not fit. */
export interface RateLimitConfig {
  /** Short for `limits.requests` with a window of a minute, a number >= 1. Default: no limit. */
  readonly requestsPerMinute?: number;
  /**
   * Short for `limits.tokens` with a window of a minute and charge `settle`, >= 1. Default: no
   * limit.
   */
  readonly tokensPerMinute?: number;
  /**
   * Named limits that are checked and charged as one, all or none. A request costs 1 of a limit
   * that is named `requests`, its tokens of `tokens`, its bytes of `bytes`, and nothing of others,
   * unless its `costs` say otherwise. Default: none.
   */
  readonly limits?: Readonly<Record<string, RateLimit>>;
  /**
   * What happens to a request that does not fit its rate limits: it waits (default), or fails at
   * once.
   */
  readonly onLimit?: 'wait' | 'fail';
  /** Whether a 429 gives back what its request was charged. Default false. */
  readonly refundRejected?: boolean;
}

/** The options of rate limits in one of several sources. */
export interface RateLimitLayer extends Omit<RateLimitConfig, 'limits'> {
  readonly limits?: Readonly<Record<string, Partial<RateLimit>>>;
}

/** The options that are short for a limit, and its name. */
export const SHORTHANDS = [
  ['requestsPerMinute', 'requests'],
  ['tokensPerMinute', 'tokens'],
] as const satisfies readonly (readonly [keyof RateLimitConfig, string])[];

/** The rate that limits, or an adaptive rate, permit. */
export const RATE_TARGET: PolicyMetric = {
  name: 'headgate.rate.target',
  unit: '{request}/s',
  meaning: 'requests that may be sent per second, by the source of this rate',
  by: 'source',
};

export const RATE_LIMIT: PolicyDefinition<
  RateLimitConfig,
  RateLimitPolicy | undefined,
  RateLimitLayer,
  'rateTarget' | 'rateUsed' | 'rateLimit'
> = {
  kind: 'rateLimit',
  options: {
    requestsPerMinute: number(1, 'off', 'requests', 'short form of `limits.requests` per minute'),
    tokensPerMinute: number(
      1,
      'off',
      'tokens',
      'short form of `limits.tokens` per minute, settled',
    ),
    limits: { fields: LIMIT_FIELDS, required: REQUIRED_FIELDS, isNamed: true },
    onLimit: word(
      ['wait', 'fail'],
      'wait',
      'whether a request that does not fit its rate limits waits or fails',
    ),
    refundRejected: flag(false, 'whether a 429 gives back the charge of its request'),
  },

  check(layer, isWhole, nameOf) {
    checkShorthands(layer, nameOf);
    checkBursts(layer, isWhole, nameOf);
  },

  create: (options, { emit, ignoreUnknown, now }) =>
    rateLimitPolicyOf(options, emit, ignoreUnknown, now),

  isAtRest: (policy, now) => Object.values(policy.snapshot(now)).every(({ used }) => used === 0),

  metrics: {
    rateTarget: RATE_TARGET,
    rateUsed: {
      name: 'headgate.rate_limit.usage',
      unit: '1',
      meaning: 'used amount of the window, in its own unit',
      by: 'limit',
    },
    rateLimit: {
      name: 'headgate.rate_limit.limit',
      unit: '1',
      meaning: 'amount that the window allows; of a token bucket, what it can hold (`burst`)',
      by: 'limit',
    },
  },

  measure(policy, now) {
    const usages = Object.entries(policy.snapshot(now));
    const limit = policy.limits.perSecond('requests');
    return {
      rateTarget: limit === undefined ? undefined : { limit },
      rateUsed: Object.fromEntries(usages.map(([name, { used }]) => [name, used])),
      // What is used is compared with this, and a bucket is used up when its burst is.
      rateLimit: Object.fromEntries(
        policy.limits.rules.map(({ name, maxCost }) => [name, maxCost]),
      ),
    };
  },
};

/** @param ignoreUnknown whether a request may have costs of limits that are not here */
export function rateLimitPolicyOf(
  options: RateLimitConfig,
  emit: Emit,
  ignoreUnknown: boolean,
  now: number,
): RateLimitPolicy | undefined {
  const limits = limitsOf(options);
  if (options.limits === undefined && Object.keys(limits).length === 0) return undefined;
  const { onLimit = 'wait', refundRejected = false } = options;
  const rules = { onLimit, refundRejected, ignoreUnknown };
  return new RateLimitPolicy(new RateLimits(limits, now), rules, emit);
}

/** The named limits, including those of the short forms. */
export function limitsOf(options: RateLimitConfig): Readonly<Record<string, RateLimit>> {
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

/** The limits of options, or of changes, in which null removes one. */
interface NamedLimits {
  readonly limits?: object;
  readonly requestsPerMinute?: number | null;
  readonly tokensPerMinute?: number | null;
}

/** @throws TypeError if a limit is given by its short form and by its name */
export function checkShorthands(layer: NamedLimits, nameOf: Naming = (path) => path): void {
  for (const [short, name] of SHORTHANDS) {
    if (layer[short] === undefined || !Object.hasOwn(layer.limits ?? {}, name)) continue;
    throw new TypeError(
      `\`${nameOf(short)}\` and \`${nameOf(`limits.${name}`)}\` exclude each other: the first is short for the second`,
    );
  }
}

function checkBursts({ limits = {} }: RateLimitLayer, isWhole: boolean, nameOf: Naming): void {
  for (const [
    name,
    { burst, algorithm = isWhole ? 'sliding-window' : undefined },
  ] of Object.entries(limits)) {
    if (algorithm !== undefined) checkBurst(nameOf(`limits.${name}.burst`), burst, algorithm);
  }
}

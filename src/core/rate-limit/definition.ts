import { checkBoolean, checkChoice, show } from '../../model/check.ts';
import type { Tell } from '../../model/facts.ts';
import { flag, number, type Option, word } from '../option.ts';
import type { Naming, PolicyDefinition } from '../policy-definition.ts';
import { RateCore } from '../rate-core.ts';
import type { RateLimit } from './rate-limit.ts';
import { RateLimits } from './rate-limits.ts';

const MINUTE_MS = 60_000;

/** Named rate limits, and what a request does that does not fit. */
export interface RateLimitConfig {
  /** Short for `limits.requests` with a window of a minute, a number >= 1. Default: no limit. */
  readonly requestsPerMinute?: number;
  /** Short for `limits.tokens` with a window of a minute and charge `settle`, >= 1. Default: no limit. */
  readonly tokensPerMinute?: number;
  /**
   * Named limits that are checked and charged as one, all or none. A request costs 1 of a limit that
   * is named `requests`, its tokens of `tokens`, its bytes of `bytes`, and nothing of others, unless
   * its `costs` say otherwise. Default: none.
   */
  readonly limits?: Readonly<Record<string, RateLimit>>;
  /** What happens to a request that does not fit its rate limits: it waits (default), or fails at once. */
  readonly onLimit?: 'wait' | 'fail';
  /** Whether a 429 gives back what its request was charged. Default false. */
  readonly refundRejected?: boolean;
}

/** What one of several sources says of rate limits. */
export interface RateLimitLayer extends Omit<RateLimitConfig, 'limits'> {
  readonly limits?: Readonly<Record<string, Partial<RateLimit>>>;
}

/** The options that are short for a limit, and its name. */
export const SHORTHANDS = [
  ['requestsPerMinute', 'requests'],
  ['tokensPerMinute', 'tokens'],
] as const satisfies readonly (readonly [keyof RateLimitConfig, string])[];

const FIELDS = {
  limit: number(1, 'required', "the limit's own", 'what one window allows'),
  windowMs: number(1, 'required', 'ms', 'the window'),
  algorithm: word(
    ['sliding-window', 'token-bucket', 'fixed-window'],
    'sliding-window',
    'how it counts over time',
  ),
  burst: number(1, '`limit`', "the limit's own", 'what a token bucket holds; for no other'),
  charge: word(
    ['upfront', 'settle', 'actual'],
    'upfront',
    'charged before, corrected after, or charged after',
  ),
} satisfies Record<keyof RateLimit, Option>;

export const RATE_LIMIT: PolicyDefinition<RateLimitConfig, RateCore | undefined, RateLimitLayer> = {
  kind: 'rateLimit',
  options: {
    requestsPerMinute: number(1, 'off', 'requests', 'short for `limits.requests` a minute'),
    tokensPerMinute: number(1, 'off', 'tokens', 'short for `limits.tokens` a minute, settled'),
    limits: { fields: FIELDS, required: ['limit', 'windowMs'], isNamed: true },
    onLimit: word(
      ['wait', 'fail'],
      'wait',
      'what a request does that does not fit its rate limits',
    ),
    refundRejected: flag(false, 'whether a 429 gives back what its request was charged'),
  },

  check(layer, isWhole, nameOf) {
    checkShorthands(layer, nameOf);
    checkBursts(layer, isWhole, nameOf);
  },

  create: (options, { tell, ignoreUnknown }) => rateCoreOf(options, tell, ignoreUnknown),

  configure(policy, changes, { now }) {
    if (policy === undefined) {
      throw new TypeError('`limits` cannot change: the limiter was made without any');
    }
    const change = policy.limits.prepare(limitsOf(changes));
    return () => change(now);
  },

  isAtRest: (policy, now) => Object.values(policy.snapshot(now)).every(({ used }) => used === 0),
};

/** @param ignoreUnknown whether a request may cost something of limits that are elsewhere */
function rateCoreOf(
  options: RateLimitConfig,
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

/** The named limits, those of the short forms too. */
function limitsOf(options: RateLimitConfig): Readonly<Record<string, RateLimit>> {
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

function checkShorthands(layer: RateLimitLayer, nameOf: Naming): void {
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
    if (burst === undefined || algorithm === undefined || algorithm === 'token-bucket') continue;
    const path = nameOf(`limits.${name}.burst`);
    throw new TypeError(
      `\`${path}\` belongs to a token-bucket, not a ${algorithm}; got ${show(burst)}`,
    );
  }
}

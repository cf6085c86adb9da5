import { checkLimiterConfig } from '../config/check-config.ts';
import { Composite } from '../core/composite.ts';
import type { Demand } from '../core/core.ts';
import {
  allParts,
  createPolicies,
  hasOption,
  type Policies,
  snapshotsOf,
} from '../core/policies.ts';
import { type PolicyConfig, type PolicySnapshots, SHARED_KEYS } from '../core/registry.ts';
import { checkChoice, checkInteger, checkKeys } from '../model/check.ts';
import type { Random } from '../model/clock.ts';
import type { Tell } from '../model/facts.ts';
import type { Reading } from '../model/reading.ts';
import { SharedPolicy } from '../queue/shared-policy.ts';

/** What a request counts when keys take turns. */
export type TurnCost = 'requests' | 'tokens' | 'bytes';

/** Limits that all keys of a group share, beside those of each. */
export interface SharedOptions extends Pick<PolicyConfig, (typeof SHARED_KEYS)[number]> {
  /** Attempts in flight at the most, an integer >= 1. Default: no bound. */
  readonly concurrency?: number;
  /** Bytes in flight before attempts wait, an integer >= 0. Default: no bound. */
  readonly maxBytes?: number;
  /**
   * What a request counts when keys take turns: 1, its tokens or its bytes.
   * Default: `'tokens'` where a limit of that name is shared, else `'requests'`.
   */
  readonly cost?: TurnCost;
}

const KEYS = [...SHARED_KEYS, 'cost'] as const satisfies readonly (keyof SharedOptions)[];

const COSTS = {
  requests: () => 1,
  tokens: ({ tokens }) => tokens,
  bytes: ({ bytes }) => bytes,
} as const satisfies Record<TurnCost, (demand: Demand) => number>;

/** The state of what all keys share. */
export type SharedSnapshot = Partial<PolicySnapshots>;

/** Limits that the gates of all keys share; they take turns where one of them binds. */
export class SharedLimits {
  readonly policy: SharedPolicy;
  /** Those that are on. */
  readonly policies: Partial<Policies>;

  /** @throws RangeError or TypeError that names a wrong option */
  constructor(options: SharedOptions, random: Random, tell: Tell) {
    checkKeys('shared', options, KEYS);
    const { cost: said, ...limits } = options;
    const { concurrency, maxBytes } = limits;
    if (concurrency !== undefined) checkInteger('shared.concurrency', concurrency, 1);
    if (maxBytes !== undefined) checkInteger('shared.maxBytes', maxBytes, 0);
    checkLimiterConfig('shared', limits);
    const context = {
      now: 0,
      random,
      tell,
      maxLimit: Number.POSITIVE_INFINITY,
      maxRetryAfterMs: Number.POSITIVE_INFINITY,
      apply: () => {},
      ignoreUnknown: true,
    };
    const isShared = (definition: { readonly options: object }) => hasOption(definition, limits);
    this.policies = createPolicies(
      { ...limits, ...(concurrency && { throttledConcurrency: concurrency }) },
      context,
      undefined,
      isShared,
    );
    const hasTokens = this.policies.rateLimit?.limits.names.includes('tokens');
    const cost = said ?? (hasTokens ? 'tokens' : 'requests');
    checkChoice('shared.cost', cost, ['requests', 'tokens', 'bytes']);
    this.policy = new SharedPolicy(new Composite(allParts(this.policies)), COSTS[cost]);
  }

  /** Undefined: the keys share no slots. */
  get concurrency(): number | undefined {
    return this.policies.concurrency?.limit;
  }

  snapshot(now: number): SharedSnapshot {
    return snapshotsOf(this.policies, now);
  }

  /** What gauges show of it: rate limits alone, named apart from those of each key. */
  reading(now: number): Reading {
    const limits = Object.entries(this.policies.rateLimit?.snapshot(now) ?? {});
    return {
      waiting: [],
      limits: Object.fromEntries(limits.map(([name, usage]) => [`shared.${name}`, usage])),
    };
  }
}

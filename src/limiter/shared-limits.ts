import { checkLimiterConfig } from '../config/check-config.ts';
import { ByteBudget, type ByteBudgetSnapshot } from '../core/byte-budget.ts';
import { Composite, type Part } from '../core/composite.ts';
import type { Demand } from '../core/core.ts';
import { Pace, type PaceSnapshot } from '../core/pace.ts';
import type { RateCore } from '../core/rate-core.ts';
import type { RateLimitUsage } from '../core/rate-limit/reservation.ts';
import { Slots, type SlotsSnapshot } from '../core/slots.ts';
import { checkChoice, checkInteger, checkKeys } from '../model/check.ts';
import type { Random } from '../model/clock.ts';
import type { Tell } from '../model/facts.ts';
import type { Reading } from '../model/reading.ts';
import { SharedPolicy } from '../queue/shared-policy.ts';
import type { AttemptOptions } from '../request/attempt-options.ts';
import { containedRandom, rateCoreOf } from '../request/attempt-policies.ts';

/** What a request counts when keys take turns. */
export type TurnCost = 'requests' | 'tokens' | 'bytes';

/** Limits that all keys of a group share, beside those of each. */
export interface SharedOptions
  extends Pick<
    AttemptOptions,
    'limits' | 'onLimit' | 'refundRejected' | 'requestsPerMinute' | 'tokensPerMinute' | 'pace'
  > {
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

const KEYS = [
  'limits',
  'onLimit',
  'refundRejected',
  'requestsPerMinute',
  'tokensPerMinute',
  'pace',
  'concurrency',
  'maxBytes',
  'cost',
] as const satisfies readonly (keyof SharedOptions)[];

const COSTS = {
  requests: () => 1,
  tokens: ({ tokens }) => tokens,
  bytes: ({ bytes }) => bytes,
} as const satisfies Record<TurnCost, (demand: Demand) => number>;

/** The state of what all keys share. */
export interface SharedSnapshot {
  readonly concurrency: SlotsSnapshot | undefined;
  readonly byteBudget: ByteBudgetSnapshot | undefined;
  readonly rateLimit: Readonly<Record<string, RateLimitUsage>> | undefined;
  readonly pace: PaceSnapshot | undefined;
}

/** Limits that the gates of all keys share; they take turns where one of them binds. */
export class SharedLimits {
  readonly policy: SharedPolicy;
  readonly rateLimit: RateCore | undefined;
  private readonly slots: Slots | undefined;
  private readonly bytes: ByteBudget | undefined;
  private readonly pace: Pace | undefined;

  /** @throws RangeError or TypeError that names a wrong option */
  constructor(options: SharedOptions, random: Random, tell: Tell, now: number) {
    checkKeys('shared', options, KEYS);
    const { cost: said, ...limits } = options;
    const { concurrency, maxBytes } = limits;
    if (concurrency !== undefined) checkInteger('shared.concurrency', concurrency, 1);
    if (maxBytes !== undefined) checkInteger('shared.maxBytes', maxBytes, 0);
    checkLimiterConfig('shared', limits);
    this.slots = concurrency === undefined ? undefined : new Slots(concurrency, concurrency);
    this.bytes = maxBytes === undefined ? undefined : new ByteBudget(maxBytes, 1);
    this.rateLimit = rateCoreOf(options, tell, true, now);
    this.pace = options.pace && new Pace(options.pace, containedRandom(random));
    const hasTokens = this.rateLimit?.limits.names.includes('tokens');
    const cost = said ?? (hasTokens ? 'tokens' : 'requests');
    checkChoice('shared.cost', cost, ['requests', 'tokens', 'bytes']);
    this.policy = new SharedPolicy(new Composite(this.parts()), COSTS[cost]);
  }

  snapshot(now: number): SharedSnapshot {
    return {
      concurrency: this.slots?.snapshot(),
      byteBudget: this.bytes?.snapshot(),
      rateLimit: this.rateLimit?.snapshot(now),
      pace: this.pace?.snapshot(now),
    };
  }

  /** What gauges show of it: rate limits alone, named apart from those of each key. */
  reading(now: number): Reading {
    const limits = Object.entries(this.rateLimit?.snapshot(now) ?? {});
    return {
      waiting: [],
      limits: Object.fromEntries(limits.map(([name, usage]) => [`shared.${name}`, usage])),
    };
  }

  private parts(): Part[] {
    const parts: Part[] = [];
    if (this.slots) parts.push({ kind: 'concurrency', core: this.slots });
    if (this.bytes) parts.push({ kind: 'byteBudget', core: this.bytes });
    if (this.rateLimit) parts.push({ kind: 'rateLimit', core: this.rateLimit });
    if (this.pace) parts.push({ kind: 'pace', core: this.pace });
    return parts;
  }
}

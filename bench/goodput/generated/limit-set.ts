/** All limits of a generated provider, decided as one. */
import { seededRandom } from 'headgate/simulator';
import { changeOf } from './change.ts';
import {
  BucketLimit,
  CapLimit,
  CounterLimit,
  type Factor,
  type Limit,
  LogLimit,
  type Told,
  WindowLimit,
} from './limits.ts';
import type { Scenario } from './space.ts';

export type Unit = 'requests' | 'tokens' | 'concurrency';

interface UnitLimit {
  readonly unit: Unit;
  readonly limit: Limit;
  readonly windowMs: number;
}

/** What a request costs. */
export interface Cost {
  readonly tokens: number;
}

/** Tokens of a request on average. */
export const MEAN_TOKENS = 100;
/** The standard deviation of their logarithm. */
const TOKENS_SIGMA = 0.8;
/** The longer of two windows is so many times the shorter. */
const LONGER = 8;

export class LimitSet {
  private readonly limits: readonly UnitLimit[];
  private readonly counts: boolean;

  constructor(scenario: Scenario) {
    this.limits = limitsOf(scenario, changeOf(scenario));
    this.counts = scenario.countsRejected;
  }

  /** Until it would be admitted if nothing else came; Infinity: no time alone will do. */
  waitMs(now: number, cost: Cost): number {
    let waitMs = 0;
    for (const { unit, limit } of this.limits) {
      waitMs = Math.max(waitMs, limit.waitMs(now, amountOf(unit, cost)));
    }
    return waitMs;
  }

  admit(now: number, cost: Cost): void {
    for (const { unit, limit } of this.limits) limit.charge(now, amountOf(unit, cost));
  }

  reject(now: number, cost: Cost): void {
    if (!this.counts) return;
    for (const { unit, limit } of this.limits) {
      if (unit !== 'concurrency') limit.charge(now, amountOf(unit, cost));
    }
  }

  release(): void {
    for (const { limit } of this.limits) limit.release?.();
  }

  told(now: number): readonly (Told & { readonly unit: Unit; readonly windowMs: number })[] {
    return this.limits.map(({ unit, limit, windowMs }) => ({ unit, windowMs, ...limit.told(now) }));
  }
}

/** Tokens that requests really cost, one after the other. */
export function tokenSource(seed: number): () => number {
  const random = seededRandom(seed * 31 + 5);
  return () => {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const tokens = MEAN_TOKENS * Math.exp(TOKENS_SIGMA * normal - TOKENS_SIGMA ** 2 / 2);
    return Math.max(1, Math.min(20 * MEAN_TOKENS, Math.round(tokens)));
  };
}

function amountOf(unit: Unit, { tokens }: Cost): number {
  return unit === 'tokens' ? tokens : 1;
}

function limitsOf(scenario: Scenario, factor: Factor): UnitLimit[] {
  const { kind, limit, windowMs, perMs, burst, phase, secondRatio } = scenario;
  const one = (state: Limit, unit: Unit = 'requests', ofMs = windowMs): UnitLimit => ({
    unit,
    limit: state,
    windowMs: ofMs,
  });
  switch (kind) {
    case 'token-bucket':
    case 'gcra':
      return [one(new BucketLimit(perMs, burst, factor))];
    case 'aligned-window':
      return [one(new WindowLimit(limit, windowMs, factor, -phase * windowMs))];
    case 'first-charge-window':
      return [one(new WindowLimit(limit, windowMs, factor))];
    case 'sliding-log':
      return [one(new LogLimit(limit, windowMs, factor))];
    case 'sliding-counter':
      return [one(new CounterLimit(limit, windowMs, factor, -phase * windowMs))];
    case 'cap':
      return [one(new CapLimit(limit, factor), 'concurrency')];
    case 'two-limits': {
      const long = Math.max(limit, Math.round(LONGER * limit * Math.min(1, secondRatio)));
      return [
        one(new BucketLimit(perMs, Math.max(1, burst / 4), factor)),
        one(new LogLimit(long, LONGER * windowMs, factor), 'requests', LONGER * windowMs),
      ];
    }
    case 'requests-and-tokens': {
      const tokensPerMs = perMs * MEAN_TOKENS * secondRatio;
      const most = Math.max(20 * MEAN_TOKENS, tokensPerMs * windowMs);
      return [
        one(new BucketLimit(perMs, burst, factor)),
        one(new BucketLimit(tokensPerMs, most, factor), 'tokens'),
      ];
    }
  }
}

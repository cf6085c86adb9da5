/** All limits of a generated provider, which accept a request together or not at all. */
import { seededRandom } from 'headgate/simulator';
import { logNormalAround } from './answer-times.ts';
import { changeOf, type Share } from './change.ts';
import { type LimitSpec, limitSpecs, MEAN_TOKENS, MOST_TOKENS, type Unit } from './limit-specs.ts';
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

interface UnitLimit {
  readonly unit: Unit;
  readonly limit: Limit;
  readonly windowMs: number;
}

/** The costs of a request. */
export interface Cost {
  readonly tokens: number;
}

/** The standard deviation of the logarithm of the tokens of requests. */
const TOKENS_SIGMA = 0.8;

export class LimitSet {
  private readonly limits: readonly UnitLimit[];
  private readonly counts: boolean;

  constructor(scenario: Scenario) {
    const share = changeOf(scenario);
    this.limits = limitSpecs(scenario).map((spec) => limitOf(spec, scenario, share));
    this.counts = scenario.countsRejected;
  }

  /**
   * The time until a request would be admitted if no other came; Infinity: time alone does not
   * help.
   */
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

/** Draws the tokens that requests actually cost, in order. */
export function tokenSource(seed: number): () => number {
  const random = seededRandom(seed * 31 + 5);
  return () => {
    const tokens = logNormalAround(MEAN_TOKENS, TOKENS_SIGMA, random);
    return Math.max(1, Math.min(MOST_TOKENS, Math.round(tokens)));
  };
}

function amountOf(unit: Unit, { tokens }: Cost): number {
  return unit === 'tokens' ? tokens : 1;
}

function limitOf(spec: LimitSpec, { phase }: Scenario, share: Share): UnitLimit {
  const { unit } = spec;
  switch (spec.algorithm) {
    case 'bucket': {
      const { perMs, burst } = spec;
      // A bucket reports as its window the time in which it fills up.
      return { unit, limit: new BucketLimit(perMs, burst, share), windowMs: burst / perMs };
    }
    case 'cap':
      return { unit, limit: new CapLimit(spec.limit, share.at), windowMs: 0 };
    default:
      return { unit, limit: windowOf(spec, phase, share.at), windowMs: spec.windowMs };
  }
}

function windowOf(
  { algorithm, limit, windowMs }: Extract<LimitSpec, { windowMs: number }>,
  phase: number,
  factor: Factor,
): Limit {
  switch (algorithm) {
    case 'aligned-window':
      return new WindowLimit(limit, windowMs, factor, -phase * windowMs);
    case 'first-charge-window':
      return new WindowLimit(limit, windowMs, factor);
    case 'log':
      return new LogLimit(limit, windowMs, factor);
    case 'counter':
      return new CounterLimit(limit, windowMs, factor, -phase * windowMs);
  }
}

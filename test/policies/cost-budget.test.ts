import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COST_BUDGET, CostBudget } from '../../src/policies/cost-budget.ts';
import { type CompletedAttempt, REFUSED } from '../../src/policies/policy.ts';

const HOUR_MS = 3_600_000;

function demandOf(cost?: number, tokens = 0) {
  return { bytes: 0, tokens, ...(cost !== undefined && { costs: { cost } }) };
}

function endedOf(
  usage: CompletedAttempt['usage'],
  kind: 'ok' | 'throttled' | 'failed' = 'ok',
): CompletedAttempt {
  return { bytes: 0, tokens: 0, isSent: true, verdict: { kind }, usage, epoch: 0 };
}

const CANCELLED = { outcome: 'cancelled' } as const;

const at = (now: number) => ({ now: () => now });

describe('a cost budget', () => {
  it('lets requests pass while their estimates fit, and waits for the window to roll', () => {
    const budget = new CostBudget({ maxCost: 1, windowMs: HOUR_MS });
    budget.take(demandOf(0.75), 0);
    expect(budget.wait(demandOf(0.25), 10)).toBe(0);
    expect(budget.wait(demandOf(0.5), 10)).toBe(HOUR_MS - 10);
    expect(budget.snapshot(10)).toEqual({
      maxCost: 1,
      windowMs: HOUR_MS,
      used: 0.75,
      available: 0.25,
      resetMs: HOUR_MS - 10,
    });
  });

  it('gives back what a request cost less than its estimate, and charges what it cost more', () => {
    const budget = new CostBudget({ maxCost: 1, windowMs: HOUR_MS });
    const cheap = budget.take(demandOf(0.75), 0);
    budget.giveBack(cheap, endedOf({ cost: 0.25 }), at(1));
    expect(budget.snapshot(1).used).toBe(0.25);
    const dear = budget.take(demandOf(0.5), 1);
    budget.giveBack(dear, endedOf({ cost: 2 }), at(2));
    expect(budget.snapshot(2)).toMatchObject({ used: 2.25, available: 0 });
    expect(budget.wait(demandOf(0), 2)).toBeGreaterThan(0);
  });

  it('is at rest, so that an idle key may be forgotten, when nothing it has spent counts', () => {
    const budget = new CostBudget({ maxCost: 1, windowMs: HOUR_MS });
    expect(COST_BUDGET.isAtRest?.(budget, 0)).toBe(true);
    budget.take(demandOf(0.25), 0);
    expect(COST_BUDGET.isAtRest?.(budget, HOUR_MS - 1)).toBe(false);
    expect(COST_BUDGET.isAtRest?.(budget, HOUR_MS)).toBe(true);
  });

  it('computes the cost of an answer from its tokens and the prices', () => {
    const options = { maxCost: 100, windowMs: HOUR_MS, inputPrice: 2, outputPrice: 10 };
    const budget = new CostBudget({ ...options, cachedPrice: 0.5 });
    const reserved = budget.take(demandOf(undefined, 1_000_000), 0);
    // A million input tokens, and a thousand of output.
    expect(budget.snapshot(0).used).toBe(2.01);
    const usage = { inputTokens: 500_000, cachedTokens: 500_000, outputTokens: 100_000 };
    budget.giveBack(reserved, endedOf(usage), at(1));
    expect(budget.snapshot(1).used).toBe(1 + 0.25 + 1);
  });

  it('counts by new prices from their change on, and keeps what was spent', () => {
    const options = { maxCost: 100, windowMs: HOUR_MS };
    const budget = new CostBudget({ ...options, inputPrice: 2 });
    budget.take(demandOf(undefined, 1_000_000), 0);
    budget.configure({ ...options, inputPrice: 5 }, 1);
    const reserved = budget.take(demandOf(undefined, 1_000_000), 1);
    expect(budget.snapshot(1).used).toBe(2 + 5);
    budget.giveBack(reserved, endedOf({ inputTokens: 2_000_000 }), at(2));
    expect(budget.snapshot(2).used).toBe(2 + 10);
  });

  it('costs nothing by usage if there are no prices: the estimate stays', () => {
    const budget = new CostBudget({ maxCost: 1, windowMs: HOUR_MS });
    budget.giveBack(budget.take(demandOf(0.5), 0), endedOf({ inputTokens: 9 }), at(1));
    expect(budget.snapshot(1).used).toBe(0.5);
    const priced = new CostBudget({ maxCost: 1, windowMs: HOUR_MS, outputPrice: 1 });
    priced.giveBack(priced.take(demandOf(0.5), 0), endedOf({ tokens: 9 }), at(1));
    expect(priced.snapshot(1).used).toBe(0.5);
    priced.giveBack(priced.take(demandOf(0.25), 1), endedOf({ outputTokens: 100_000 }), at(2));
    expect(priced.snapshot(2).used).toBe(0.6);
  });

  it('learns what answers cost beyond their input', () => {
    const budget = new CostBudget({ maxCost: 100, windowMs: 10 });
    for (let now = 0; now < 1_000; now += 10) {
      budget.giveBack(budget.take(demandOf(), now), endedOf({ cost: 3 }), at(now));
    }
    budget.take(demandOf(), 2_000);
    expect(budget.snapshot(2_000).used).toBeCloseTo(3, 3);
  });

  it.each([
    ['was never sent', { ...endedOf(undefined), isSent: false, verdict: undefined }, 0],
    ['was cancelled before it was sent', { ...endedOf(undefined), ...CANCELLED, isSent: false }, 0],
    ['was rejected', endedOf(undefined, 'throttled'), 0],
    ['failed, at an unknown cost', endedOf(undefined, 'failed'), 0.5],
    ['failed, at a known cost', endedOf({ cost: 0.125 }, 'failed'), 0.125],
    ['was cancelled', { ...endedOf(undefined), verdict: undefined }, 0.5],
    ['was cancelled, at a known cost', { ...endedOf({ cost: 0.125 }), ...CANCELLED }, 0.125],
    [
      'was cancelled, having used little',
      { ...endedOf({ inputTokens: 0.1e6 }), ...CANCELLED },
      0.5,
    ],
    [
      'was cancelled, having used much',
      { ...endedOf({ inputTokens: 0.75e6 }), ...CANCELLED },
      0.75,
    ],
  ])('counts an attempt that %s', (_, ended, used) => {
    const budget = new CostBudget({ maxCost: 1, windowMs: HOUR_MS, inputPrice: 1 });
    budget.giveBack(budget.take(demandOf(0.5), 0), ended, at(1));
    expect(budget.snapshot(1).used).toBe(used);
  });

  it('refuses what costs more than the whole budget', () => {
    const budget = new CostBudget({ maxCost: 1, windowMs: HOUR_MS, inputPrice: 1 });
    for (const demand of [demandOf(1.5), demandOf(undefined, 1_500_000)]) {
      expect(budget.wait(demand, 0)).toBe(REFUSED);
      expect(budget.refusal(demand, 0)).toMatchObject({
        limit: 'costBudget',
        cost: 1.5,
        maxCost: 1,
      });
    }
  });

  it('is one budget for all requests if its window is endless, and refuses what does not fit', () => {
    const denied: object[] = [];
    const budget = new CostBudget({ maxCost: 1, windowMs: Number.POSITIVE_INFINITY }, (fact) =>
      denied.push(fact),
    );
    const spent = budget.take(demandOf(0.75), 0);
    budget.giveBack(spent, endedOf({ cost: 0.75 }), at(1));
    expect(budget.wait(demandOf(0.25), HOUR_MS)).toBe(0);
    const demand = demandOf(0.5);
    expect(budget.wait(demand, HOUR_MS)).toBe(REFUSED);
    const why = { limit: 'costBudget', cost: 0.5, available: 0.25, retryAfterMs: Infinity };
    expect(budget.refusal(demand, HOUR_MS)).toMatchObject({
      ...why,
      message:
        'the rate limit "costBudget" has 0.25 left of the 0.5 that are needed; time does not refill it',
    });
    expect(denied).toEqual([{ kind: 'limitDenied', at: HOUR_MS, ...why, waits: false }]);
    expect(budget.snapshot(HOUR_MS)).toMatchObject({ used: 0.75, resetMs: Infinity });
  });

  it('lets requests wait while one in flight may give back a part of its estimate', () => {
    const denied: object[] = [];
    const budget = new CostBudget({ maxCost: 1, windowMs: Number.POSITIVE_INFINITY }, (fact) =>
      denied.push(fact),
    );
    const [first, second] = [budget.take(demandOf(0.5), 0), budget.take(demandOf(0.5), 0)];
    const demand = demandOf(0.25);
    expect(budget.wait(demand, 0)).toBe(Infinity);
    budget.giveBack(first, endedOf({ cost: 0.5 }), at(1));
    expect(budget.wait(demand, 1)).toBe(Infinity);
    expect(denied).toMatchObject([{ waits: true }]);
    budget.giveBack(second, endedOf({ cost: 0.25 }), at(2));
    expect(budget.wait(demand, 2)).toBe(0);
    expect(budget.wait(demandOf(0.5), 2)).toBe(REFUSED);
    // Its next attempt is reported again.
    budget.take(demand, 2);
    budget.wait(demand, 2);
    budget.wait(demand, 3);
    expect(denied.map((fact) => (fact as { at: number }).at)).toEqual([0, 2, 2]);
  });

  it.each([
    [HOUR_MS, undefined, HOUR_MS],
    [HOUR_MS, 'fail', REFUSED],
    [Infinity, undefined, REFUSED],
    [Infinity, 'wait', Infinity],
  ] as const)('with a window of %s ms and onLimit %s, a spent budget answers %s', (...given) => {
    const [windowMs, onLimit, answer] = given;
    const budget = new CostBudget({ maxCost: 1, windowMs, ...(onLimit && { onLimit }) });
    budget.giveBack(budget.take(demandOf(1), 0), endedOf({ cost: 1 }), at(0));
    expect(budget.wait(demandOf(0.5), 0)).toBe(answer);
  });

  it('cannot become one budget for all requests, or a rolling one, while it runs', () => {
    const budget = new CostBudget({ maxCost: 1, windowMs: HOUR_MS });
    expect(() => budget.checkChange({ maxCost: 1, windowMs: Infinity })).toThrow(
      '`costBudget.windowMs` must stay 3600000 while running, got Infinity',
    );
  });

  it.each([
    [{ maxCost: 0, windowMs: 1 }, '`maxCost` must be a finite number >= 0.01, got 0'],
    [{ maxCost: 1, windowMs: 0 }, '`windowMs` must be a number >= 1 or Infinity, got 0'],
    [
      { maxCost: 1, windowMs: 1, inputPrice: -1 },
      '`inputPrice` must be a finite number >= 0, got -1',
    ],
    [{ maxCost: 1, windowMs: 1, cachedPrice: Number.NaN }, '`cachedPrice` must be'],
    [{ maxCost: 1, windowMs: 1, outputPrice: Number.POSITIVE_INFINITY }, '`outputPrice` must be'],
  ])('refuses the options %o', (options, message) => {
    expect(() => new CostBudget(options)).toThrow(message);
  });

  it('never lets a window cost more than the budget, beyond what estimates were too low by', () => {
    const windowMs = 100;
    const request = fc.record({
      pauseMs: fc.integer({ min: 0, max: 60 }),
      estimate: fc.integer({ min: 0, max: 100 }),
      actual: fc.integer({ min: 0, max: 200 }),
      takesMs: fc.integer({ min: 0, max: 80 }),
    });
    fc.assert(
      fc.property(fc.array(request, { maxLength: 60 }), (requests) => {
        const budget = new CostBudget({ maxCost: 1, windowMs });
        const charged: { at: number; cost: number; excess: number }[] = [];
        const running: { endsAt: number; end: () => void }[] = [];
        let now = 0;
        const goTo = (time: number) => {
          running.sort((a, b) => a.endsAt - b.endsAt);
          while (running[0] !== undefined && running[0].endsAt <= time) running.shift()?.end();
          now = time;
        };
        for (const { pauseMs, estimate, actual, takesMs } of requests) {
          goTo(now + pauseMs);
          const demand = demandOf(estimate / 100);
          for (let waitMs = budget.wait(demand, now); waitMs > 0; ) {
            goTo(now + waitMs);
            waitMs = budget.wait(demand, now);
          }
          const reserved = budget.take(demand, now);
          const cost = actual / 100;
          const excess = Math.max(0, cost - estimate / 100);
          charged.push({ at: now, cost, excess });
          const endsAt = now + takesMs;
          running.push({
            endsAt,
            end: () => budget.giveBack(reserved, endedOf({ cost }), at(endsAt)),
          });
        }
        for (const { at: from } of charged) {
          const within = charged.filter((one) => one.at >= from && one.at < from + windowMs);
          const spent = within.reduce((sum, { cost }) => sum + cost, 0);
          const tooLow = within.reduce((sum, { excess }) => sum + excess, 0);
          expect(spent).toBeLessThanOrEqual(1 + tooLow + 1e-6);
        }
      }),
    );
  });
});

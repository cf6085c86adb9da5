import { describe, expect, it } from 'vitest';
import type { AimdEvent } from '../../src/model/policy-events.ts';
import { Aimd, type AimdOptions } from '../../src/policies/aimd.ts';
import { ConcurrencyPolicy } from '../../src/policies/concurrency-policy.ts';
import { Interval } from '../../src/policies/interval.ts';

const MINUTE = 60_000;
const DEMAND = { bytes: 0, tokens: 0 };

function coolingOf(options: Partial<AimdOptions> = {}, intervalMs = 100): Aimd {
  return new Aimd({ maxLimit: 8, ...options }, 0, new Interval({ intervalMs }));
}

/** Three failures at once: enough by default. */
function decelerate(cooling: Aimd, now: number): AimdEvent[] {
  return [1, 2, 3].flatMap(() => [...cooling.failed(now)]);
}

const steps = (facts: readonly AimdEvent[]) =>
  facts.map((fact) => `${fact.kind} ${fact.at / MINUTE}`);

describe('deceleration', () => {
  it('halves the limit and doubles the interval at the third failure in 60 s', () => {
    const cooling = coolingOf();
    expect(cooling.failed(0)).toEqual([]);
    expect(cooling.failed(30_000)).toEqual([]);
    expect(cooling.failed(59_999)).toEqual([
      { kind: 'decelerated', at: 59_999, from: 8, to: 4, intervalMs: 200 },
      { kind: 'coolingStarted', at: 59_999, untilAt: 119_999 },
    ]);
    expect(cooling.snapshot(59_999)).toEqual({
      state: 'cooling',
      limit: 4,
      maxLimit: 8,
      ceiling: 8,
      intervalMs: 200,
      failures: 0,
      nextChangeInMs: MINUTE,
    });
  });

  it('does not count a failure that is 60 s old', () => {
    const cooling = coolingOf();
    for (const now of [0, 30_000, 60_000, 90_000, 120_000]) {
      expect(cooling.failed(now)).toEqual([]);
    }
    expect(cooling.snapshot(120_000)).toMatchObject({ limit: 8, failures: 2, state: 'running' });
    expect(cooling.snapshot(180_000).failures).toBe(0);
  });

  it('needs as many failures again, for the window is cleared', () => {
    const cooling = coolingOf();
    decelerate(cooling, 0);
    cooling.failed(1);
    expect(cooling.failed(2)).toEqual([]);
    expect(cooling.failed(3)).toMatchObject([{ from: 4, to: 2 }, {}]);
  });

  it('rounds down, but never below one request', () => {
    const cooling = coolingOf({ maxLimit: 5 });
    const limits = [1, 2, 3, 4].map((now) => {
      decelerate(cooling, now);
      return cooling.limit;
    });
    expect(limits).toEqual([2, 1, 1, 1]);
  });

  it('comes with the very first request if one failure is enough', () => {
    const cooling = coolingOf({ failureThreshold: 1 });
    expect(cooling.failed(0)).toHaveLength(2);
    expect(cooling.limit).toBe(4);
  });

  it('is not caused by late failures of attempts that were sent before the last one', () => {
    const cooling = coolingOf({ maxLimit: 400 });
    const sentIn = cooling.epoch;
    const facts = Array.from({ length: 400 }, () => cooling.failed(5, sentIn)).flat();
    expect(steps(facts)).toEqual(
      ['decelerated', 'coolingStarted'].map((k) => `${k} ${5 / MINUTE}`),
    );
    expect(cooling.limit).toBe(200);
    expect(cooling.snapshot(5).failures).toBe(0);
    cooling.failed(6, cooling.epoch);
    expect(cooling.snapshot(6).failures).toBe(1);
  });

  it('lets no more in than the new limit: those in flight count for it', () => {
    const cooling = coolingOf();
    const slots = new ConcurrencyPolicy(cooling.limit, 1);
    while (slots.wait(DEMAND, 0) === 0) slots.take(DEMAND, 0);
    expect(slots.inFlight).toBe(8);
    decelerate(cooling, 0);
    slots.limit = cooling.limit;
    for (let left = 8; left > 4; left--) {
      expect(slots.wait(DEMAND, 0)).toBe(Number.POSITIVE_INFINITY);
      slots.giveBack(1);
    }
    expect(slots.wait(DEMAND, 0)).toBe(Number.POSITIVE_INFINITY);
    slots.giveBack(1);
    expect(slots.wait(DEMAND, 0)).toBe(0);
  });
});

describe('the way back', () => {
  it('goes on step by step up to the ceiling, not just one step', () => {
    const cooling = coolingOf();
    decelerate(cooling, 0);
    const limits = [1, 2, 3, 4, 5].map((minutes) => {
      cooling.advance(minutes * MINUTE);
      return [cooling.limit, cooling.interval.ms, cooling.snapshot(0).state];
    });
    expect(limits).toEqual([
      [5, 100, 'cooling'],
      [6, 100, 'cooling'],
      [7, 100, 'cooling'],
      [8, 100, 'running'],
      [8, 100, 'running'],
    ]);
    expect(cooling.nextChangeAt).toBe(Number.POSITIVE_INFINITY);
  });

  it('needs no request: time alone makes the steps, each told with its own time', () => {
    const cooling = coolingOf();
    decelerate(cooling, 0);
    const facts = cooling.advance(60 * MINUTE);
    expect(facts).toMatchObject([1, 2, 3, 4].map((m) => ({ at: m * MINUTE, to: 4 + m })));
    expect(cooling.advance(60 * MINUTE)).toEqual([]);
  });

  it('is made before the failure that comes after a long silence', () => {
    const cooling = coolingOf({ failureThreshold: 1 });
    cooling.failed(0);
    expect(steps(cooling.failed(2.5 * MINUTE))).toEqual([
      'reaccelerated 1',
      'reaccelerated 2',
      'decelerated 2.5',
      'coolingStarted 2.5',
    ]);
    expect(cooling.limit).toBe(3);
  });

  it('starts anew with each deceleration, but not with a single failure', () => {
    const cooling = coolingOf();
    decelerate(cooling, 0);
    decelerate(cooling, 59_000);
    expect(cooling.nextChangeAt).toBe(119_000);
    cooling.failed(100_000);
    expect(cooling.nextChangeAt).toBe(119_000);
  });

  it('stops at the limit at which it went wrong, until five minutes have passed well', () => {
    const cooling = coolingOf();
    decelerate(cooling, 0);
    decelerate(cooling, 0);
    expect(cooling.snapshot(0)).toMatchObject({ limit: 2, ceiling: 4, intervalMs: 400 });
    expect(steps(cooling.advance(6 * MINUTE))).toEqual([
      'reaccelerated 1',
      'reaccelerated 2',
      'ceilingReset 5',
      'reaccelerated 6',
    ]);
    expect(cooling.snapshot(0)).toMatchObject({ limit: 5, ceiling: 8, intervalMs: 100 });
    cooling.advance(20 * MINUTE);
    expect(cooling.limit).toBe(8);
  });

  it('waits five minutes from the last failure for its ceiling, decelerating or not', () => {
    const cooling = coolingOf();
    decelerate(cooling, 0);
    decelerate(cooling, 0);
    cooling.failed(4 * MINUTE);
    expect(steps(cooling.advance(9 * MINUTE))).toContain('ceilingReset 9');
  });

  it('halves the interval back even where the limit has nowhere to go', () => {
    const cooling = coolingOf({ maxLimit: 1 });
    decelerate(cooling, 0);
    decelerate(cooling, 0);
    expect(cooling.snapshot(0)).toMatchObject({ limit: 1, intervalMs: 400, state: 'cooling' });
    expect(cooling.advance(9 * MINUTE)).toMatchObject([
      { kind: 'reaccelerated', from: 1, to: 1, intervalMs: 200 },
      { kind: 'reaccelerated', from: 1, to: 1, intervalMs: 100 },
    ]);
    expect(cooling.snapshot(0).state).toBe('running');
  });

  it('is taken by a limit that starts below its maximum', () => {
    const cooling = coolingOf({ initialLimit: 6 });
    expect(cooling.snapshot(0)).toMatchObject({ state: 'running', limit: 6, ceiling: 8 });
    expect(steps(cooling.advance(9 * MINUTE))).toEqual(['reaccelerated 1', 'reaccelerated 2']);
    expect(cooling.limit).toBe(8);
  });
});

describe('a new maximum', () => {
  it('takes along a limit that was at the old one', () => {
    const cooling = coolingOf();
    cooling.setMaxLimit(20, 0);
    expect(cooling.snapshot(0)).toMatchObject({ limit: 20, ceiling: 20, maxLimit: 20 });
    cooling.setMaxLimit(3, 0);
    expect(cooling.snapshot(0)).toMatchObject({ limit: 3, ceiling: 3, nextChangeInMs: Infinity });
  });

  it('leaves a limit that is on its way back where it is, or cuts it off', () => {
    const cooling = coolingOf();
    decelerate(cooling, 0);
    decelerate(cooling, 0);
    cooling.setMaxLimit(100, 1_000);
    expect(cooling.snapshot(1_000)).toMatchObject({ limit: 2, ceiling: 4 });
    expect(cooling.nextChangeAt).toBe(MINUTE);
    cooling.setMaxLimit(3, 2_000);
    expect(cooling.snapshot(2_000)).toMatchObject({ limit: 2, ceiling: 3, state: 'cooling' });
    expect(steps(cooling.advance(20 * MINUTE))).toEqual(['reaccelerated 1', 'reaccelerated 2']);
    expect(cooling.limit).toBe(3);
    expect(() => cooling.setMaxLimit(0, 0)).toThrow('`maxLimit` must be an integer >= 1, got 0');
  });
});

it('refuses options that are none', () => {
  expect(() => coolingOf({ maxLimit: Number.NaN })).toThrow(
    new RangeError('`maxLimit` must be an integer >= 1, got NaN'),
  );
  expect(() => coolingOf({ initialLimit: 0 })).toThrow('`initialLimit`');
  expect(() => coolingOf({ initialLimit: 9 })).toThrow(
    '`initialLimit` must be a number from 1 to 8, got 9',
  );
  expect(() => coolingOf({ failureThreshold: 0 })).toThrow('`failureThreshold`');
  expect(() => coolingOf({ failureWindowMs: 0 })).toThrow('`failureWindowMs`');
  expect(() => coolingOf({ coolingMs: 0 })).toThrow('`coolingMs`');
  expect(() => coolingOf({ ceilingResetFactor: -1 })).toThrow('`ceilingResetFactor`');
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Progress, type ProgressOptions } from '../../src/policies/progress.ts';
import { holds } from '../support/holds.ts';

/** Ends so many requests at `now`, a second each. Returns the milestones. */
function end(progress: Progress, count: number, now = 0): number[] {
  return Array.from({ length: count }, () => progress.record('ok', 1_000, now)).flat();
}

describe('what is done', () => {
  it('is counted, failures too: they will not be sent again', () => {
    const progress = new Progress({ total: 8 }, 0);
    end(progress, 5);
    progress.record('failed', 1_000, 0);
    expect(progress.snapshot(0, 1)).toMatchObject({
      total: 8,
      completed: 5,
      failed: 1,
      remaining: 2,
      percentage: 75,
    });
  });

  it('is never more than everything', () => {
    const progress = new Progress({ total: 2 }, 0);
    end(progress, 3);
    expect(progress.snapshot(0, 1)).toMatchObject({ remaining: 0, percentage: 100, etaMs: 0 });
  });

  it('is everything where there is nothing to do', () => {
    const snapshot = new Progress({ total: 0 }, 0).snapshot(0, 0);
    expect(snapshot).toMatchObject({ total: 0, remaining: 0, percentage: 100, etaMs: 0 });
  });

  it('is no share of a total that is not known', () => {
    const progress = new Progress({}, 0);
    expect(end(progress, 50)).toEqual([]);
    expect(progress.snapshot(0, 1)).toEqual({
      total: undefined,
      completed: 50,
      failed: 0,
      remaining: undefined,
      percentage: undefined,
      ratePerSecond: undefined,
      etaMs: undefined,
    });
  });
});

describe('milestones', () => {
  it('come at each ten per cent, once', () => {
    const progress = new Progress({ total: 200 }, 0);
    const told = Array.from({ length: 200 }, (_, index) => {
      const [milestone] = end(progress, 1);
      return milestone === undefined ? undefined : [index + 1, milestone];
    }).filter((entry) => entry !== undefined);
    expect(told).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100].map((p) => [p * 2, p]));
    expect(end(progress, 5)).toEqual([]);
  });

  it('come all at once where one request crosses several', () => {
    const progress = new Progress({ total: 3 }, 0);
    expect(end(progress, 1)).toEqual([10, 20, 30]);
    expect(end(progress, 1)).toEqual([40, 50, 60]);
    expect(end(progress, 1)).toEqual([70, 80, 90, 100]);
  });

  it('miss none by rounding', () => {
    const progress = new Progress({ total: 100, milestonePercent: 1 }, 0);
    for (let percent = 1; percent <= 100; percent++) expect(end(progress, 1)).toEqual([percent]);
  });

  it('include the whole where the steps do not add up to it', () => {
    const progress = new Progress({ total: 10, milestonePercent: 30 }, 0);
    expect(end(progress, 10)).toEqual([30, 60, 90, 100]);
    expect(end(new Progress({ total: 10, milestonePercent: 100 }, 0), 10)).toEqual([100]);
  });

  it('are reached by a total that becomes known or shrinks, and not told again when it grows', () => {
    const progress = new Progress({}, 0);
    end(progress, 5);
    expect(progress.setTotal(20)).toEqual([10, 20]);
    expect(progress.setTotal(10)).toEqual([30, 40, 50]);
    expect(progress.setTotal(100)).toEqual([]);
    expect(progress.snapshot(0, 1).percentage).toBe(5);
    expect(end(progress, 50)).toEqual([]);
    expect(end(progress, 5)).toEqual([60]);
    expect(progress.setTotal(undefined)).toEqual([]);
  });
});

describe('the time left', () => {
  const eta = (progress: Progress, now: number, parallelism = 7) =>
    progress.snapshot(now, parallelism).etaMs;

  it('is the mean duration times what remains, by as many as really ran at once', () => {
    const progress = new Progress({ total: 102 }, 0);
    progress.record('ok', 1_000, 1_000);
    progress.record('failed', 3_000, 1_000);
    expect(eta(progress, 1_000)).toBe((2_000 * 100) / 4);
    expect(eta(progress, 4_000)).toBe((2_000 * 100) / 1);
  });

  it('looks at the last 50 durations only', () => {
    const progress = new Progress({ total: 200 }, 0);
    let now = 0;
    const take = (durationMs: number) => {
      now += durationMs;
      progress.record('ok', durationMs, now);
    };
    for (let count = 0; count < 50; count++) take(9_999);
    for (let count = 0; count < 49; count++) take(100);
    expect(eta(progress, now)).toBeCloseTo(((49 * 100 + 9_999) / 50) * 101);
    take(100);
    expect(eta(progress, now)).toBe(10_000);
    for (let count = 0; count < 20; count++) take(100);
    expect(eta(progress, now)).toBe(8_000);
  });

  it('halves where twice as many run at once, however they come', () => {
    const progress = new Progress({ total: 1_020 }, 0);
    for (let second = 1; second <= 10; second++) {
      progress.record('ok', 1_000, second * 1_000);
      progress.record('ok', 1_000, second * 1_000);
    }
    expect(eta(progress, 10_000)).toBe(500_000);
  });

  it('is steady where a limit lets a hundred pass at the start of each minute', () => {
    const progress = new Progress({ total: 1_000 }, 0);
    const minute = (start: number) => {
      for (let count = 0; count < 100; count++) {
        progress.record('ok', 3_000, start + 3_000 + count * 10);
      }
    };
    minute(0);
    minute(60_000);
    for (const second of [66, 90, 119]) {
      const left = eta(progress, second * 1_000) ?? 0;
      expect(left / 480_000).toBeGreaterThan(0.9);
      expect(left / 480_000).toBeLessThan(1.1);
    }
  });

  it('is right where long requests flow evenly for longer than a minute', () => {
    const progress = new Progress({ total: 1_000 }, 0);
    for (let second = 10; second < 200; second++) progress.record('ok', 10_000, second * 1_000);
    // Ten at once, so one ends each second.
    const left = eta(progress, 199_000) ?? 0;
    expect(left / (810 * 1_000)).toBeCloseTo(1, 1);
  });

  it('is not known before anything has ended', () => {
    const progress = new Progress({ total: 10 }, 0);
    expect(eta(progress, 0)).toBeUndefined();
    progress.record('ok', undefined, 0);
    expect(eta(progress, 100)).toBeUndefined();
    progress.record('ok', 800, 900);
    expect(eta(progress, 900)).toBe(6_400);
  });

  it('goes by those that run now where no time has passed', () => {
    const progress = new Progress({ total: 10 }, 0);
    progress.record('ok', 0, 0);
    expect(eta(progress, 0, 2)).toBe(0);
    expect(eta(progress, 0, 0)).toBeUndefined();
    expect(eta(progress, 0, Number.NaN)).toBeUndefined();
  });
});

describe('the rate', () => {
  const rate = (progress: Progress, now: number) => progress.snapshot(now, 1).ratePerSecond;

  it('is taken from the start until the window is full', () => {
    const progress = new Progress({}, 500);
    expect(rate(progress, 500)).toBeUndefined();
    end(progress, 30, 1_500);
    expect(rate(progress, 2_500)).toBe(15);
    expect(rate(progress, 20_500)).toBe(1.5);
  });

  it('forgets what is older than the window', () => {
    const progress = new Progress({}, 0);
    for (let second = 0; second < 60; second++) end(progress, 10, second * 1_000);
    expect(rate(progress, 60_000)).toBeCloseTo(10);
    for (let second = 60; second < 180; second++) end(progress, 2, second * 1_000);
    expect(rate(progress, 179_999)).toBeCloseTo(2);
    expect(rate(progress, 210_000)).toBeCloseTo(1, 1);
    expect(rate(progress, 1e9)).toBe(0);
    end(progress, 60, 1e9);
    expect(rate(progress, 1e9 + 500)).toBeCloseTo(1, 1);
  });
});

it('tells no NaN, nothing infinite or negative, and each milestone once', () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('end' as const),
      result: fc.constantFrom('ok' as const, 'failed' as const),
      durationMs: fc.option(
        fc.oneof(fc.constantFrom(0, 5e-324, Number.MAX_SAFE_INTEGER), fc.nat(5_000)),
        { nil: undefined },
      ),
    }),
    fc.record({
      kind: fc.constant('total' as const),
      total: fc.option(fc.oneof(fc.nat(40), fc.constant(Number.MAX_SAFE_INTEGER)), {
        nil: undefined,
      }),
    }),
    fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.oneof(fc.nat(90_000), fc.double({ min: 0, max: 1, noNaN: true })),
    }),
  );
  const parallelism = fc.oneof(fc.nat(20), fc.constantFrom(5e-324, -1, Number.NaN, Infinity));
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.array(fc.tuple(step, parallelism), { maxLength: 80, size: 'max' }),
      (milestonePercent, script) => {
        const progress = new Progress({ milestonePercent }, 0);
        let now = 0;
        const told: number[] = [];
        for (const [action, at] of script) {
          if (action.kind === 'wait') now += action.ms;
          else if (action.kind === 'total') told.push(...progress.setTotal(action.total));
          else told.push(...progress.record(action.result, action.durationMs, now));
          const snapshot = progress.snapshot(now, at);
          for (const value of Object.values(snapshot)) {
            holds(value === undefined || (Number.isFinite(value) && value >= 0), snapshot);
          }
          const { percentage = 0 } = snapshot;
          holds(percentage <= 100, percentage);
          const reached = Math.floor(percentage / milestonePercent) * milestonePercent;
          const least = percentage === 100 ? 100 : reached;
          holds(snapshot.total === 0 || (told.at(-1) ?? 0) >= least, told, percentage);
        }
        expect(told).toEqual([...new Set(told)].sort((a, b) => a - b));
      },
    ),
  );
});

it('refuses options and numbers that are none', () => {
  const make = (options: object) => () => new Progress(options as ProgressOptions, 0);
  expect(make({ total: -1 })).toThrow(new RangeError('`total` must be an integer >= 0, got -1'));
  expect(make({ total: '5' })).toThrow(TypeError);
  expect(make({ milestonePercent: 0 })).toThrow('`milestonePercent` must be an integer >= 1');
  expect(make({ milestonePercent: 101 })).toThrow(
    '`milestonePercent` must be a number from 1 to 100',
  );
  expect(make({ rateWindowMs: 1 })).toThrow('`rateWindowMs`');
  const progress = make({})();
  expect(() => progress.setTotal(Number.NaN)).toThrow('`total`');
  expect(() => progress.record('ok', -1, 0)).toThrow('`durationMs`');
  expect(progress.snapshot(0, 1)).toMatchObject({ total: undefined, completed: 0 });
});

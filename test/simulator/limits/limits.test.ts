import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Capacity, type LimitState } from '../../../src/simulator/limits/limit-state.ts';
import { TokenBucket } from '../../../src/simulator/limits/token-bucket.ts';
import { FixedWindow, SlidingWindow } from '../../../src/simulator/limits/windows.ts';
import { holds } from '../../support/holds.ts';

const full = new Capacity();
const size = { limit: 10, windowMs: 1000 };

const script = fc.array(
  fc.record({
    gapMs: fc.oneof(fc.nat(400), fc.double({ min: 0, max: 50, noNaN: true })),
    cost: fc.nat(10),
  }),
  { maxLength: 150 },
);

interface Grant {
  atMs: number;
  cost: number;
}

/** Takes whatever fits. */
function play(state: LimitState, steps: readonly { gapMs: number; cost: number }[]): Grant[] {
  const grants: Grant[] = [];
  let nowMs = 0;
  for (const { gapMs, cost } of steps) {
    nowMs += gapMs;
    if (state.waitMs(nowMs, cost) > 0) continue;
    state.charge(nowMs, cost);
    grants.push({ atMs: nowMs, cost });
  }
  return grants;
}

const sum = (grants: readonly Grant[]) => grants.reduce((total, { cost }) => total + cost, 0);

describe('laws', () => {
  it('no interval of a sliding window holds more than the limit', () => {
    fc.assert(
      fc.property(script, (steps) => {
        const grants = play(new SlidingWindow(size, full), steps);
        for (const { atMs: fromMs } of grants) {
          const inside = grants.filter(
            ({ atMs }) => atMs >= fromMs && atMs < fromMs + size.windowMs - 1e-5,
          );
          holds(sum(inside) <= size.limit, inside);
        }
      }),
    );
  });

  it('no fixed window holds more than the limit', () => {
    fc.assert(
      fc.property(script, (steps) => {
        const windows = new Map<number, number>();
        for (const { atMs, cost } of play(new FixedWindow(size, full), steps)) {
          const window = Math.floor((atMs + 1e-6) / size.windowMs);
          windows.set(window, (windows.get(window) ?? 0) + cost);
        }
        for (const used of windows.values()) holds(used <= size.limit, used);
      }),
    );
  });

  it('a token bucket never gives more than burst + rate x time, from any grant on', () => {
    fc.assert(
      fc.property(script, fc.integer({ min: 10, max: 30 }), (steps, burst) => {
        const grants = play(new TokenBucket(size, burst, full), steps);
        grants.forEach(({ atMs: fromMs }, from) => {
          for (let to = from; to < grants.length; to++) {
            const tookMs = (grants[to]?.atMs ?? 0) - fromMs;
            const most = burst + (size.limit / size.windowMs) * tookMs;
            holds(sum(grants.slice(from, to + 1)) <= most + 1e-3, from, to, most);
          }
        });
      }),
    );
  });

  const machines: [string, () => LimitState][] = [
    ['token-bucket', () => new TokenBucket(size, 10, full)],
    ['fixed-window', () => new FixedWindow(size, full)],
    ['sliding-window', () => new SlidingWindow(size, full)],
  ];

  it.each(machines)('%s: the wait it names is enough, and no shorter one is', (_name, make) => {
    fc.assert(
      fc.property(script, fc.integer({ min: 1, max: 10 }), (steps, cost) => {
        const state = make();
        play(state, steps);
        const nowMs = steps.reduce((total, { gapMs }) => total + gapMs, 0);
        const waitMs = state.waitMs(nowMs, cost);
        if (waitMs > 0.01) expect(state.waitMs(nowMs + waitMs - 0.01, cost)).toBeGreaterThan(0);
        expect(state.waitMs(nowMs + waitMs, cost)).toBe(0);
      }),
    );
  });

  it.each(machines)('%s: after its reset everything is there again', (_name, make) => {
    fc.assert(
      fc.property(script, (steps) => {
        const state = make();
        play(state, steps);
        const nowMs = steps.reduce((total, { gapMs }) => total + gapMs, 0);
        const resetMs = state.resetMs(nowMs);
        expect(Math.floor(state.remaining(nowMs + resetMs))).toBe(10);
      }),
    );
  });

  it.each(machines)('%s: a cost above the limit never fits', (_name, make) => {
    expect(make().waitMs(0, 11)).toBe(Number.POSITIVE_INFINITY);
  });

  it.each(machines)(
    '%s: what was not used is given back, what came on top is owed',
    (_name, make) => {
      const state = make();
      const charge = state.charge(0, 10);
      expect(state.remaining(0)).toBeCloseTo(0, 4);
      state.settle(0, charge, 4);
      expect(state.remaining(0)).toBeCloseTo(6, 4);
      state.settle(0, charge, 14);
      expect(state.remaining(0)).toBe(0);
      expect(state.waitMs(0, 1)).toBeGreaterThan(0);
    },
  );
});

describe('windows that have passed', () => {
  it('give nothing back', () => {
    for (const state of [new FixedWindow(size, full), new SlidingWindow(size, full)]) {
      const charge = state.charge(0, 10);
      state.charge(1000, 3);
      state.settle(1000, charge, 0);
      expect(state.remaining(1000)).toBe(7);
    }
  });
});

describe('penalise', () => {
  it('takes what is left in a bucket, and adds to a window beyond its limit', () => {
    const bucket = new TokenBucket(size, 1, full);
    bucket.charge(0, 1);
    bucket.penalise(50, 1);
    expect(bucket.waitMs(50, 1)).toBeCloseTo(100, 3);
    const window = new SlidingWindow({ limit: 1, windowMs: 1000 }, full);
    window.charge(0, 1);
    window.penalise(500, 1);
    expect(window.waitMs(500, 1)).toBe(1000);
  });
});

describe('Capacity', () => {
  it('is constant in pieces', () => {
    const steps = new Capacity([
      { atMs: 400, factor: 1 },
      { atMs: 200, factor: 0.5 },
    ]);
    expect([0, 199, 200, 399, 400].map((ms) => steps.factorAt(ms))).toEqual([1, 1, 0.5, 0.5, 1]);
    expect(steps.integral(100, 500)).toBe(100 + 100 + 100);
    expect(steps.announcedFactorAt(300)).toBe(0.5);
    const tenants = new Capacity((ms) => (ms < 1000 ? 0.3 : 0.9));
    expect(tenants.factorAt(1999)).toBe(0.9);
    expect(tenants.integral(500, 1500)).toBeCloseTo(150 + 450, 9);
    expect(tenants.announcedFactorAt(0)).toBe(1);
  });

  it('changes rates and windows', () => {
    const half = new Capacity([{ atMs: 0, factor: 0.5 }]);
    const bucket = new TokenBucket(size, 10, half);
    bucket.charge(0, 10);
    expect(bucket.waitMs(0, 10)).toBe(2000);
    expect(new FixedWindow(size, half).remaining(0)).toBe(5);
    expect(new SlidingWindow(size, half).remaining(0)).toBe(5);
  });

  it('names a function that returns nonsense', () => {
    const capacity = new Capacity(() => Number.NaN);
    expect(() => capacity.factorAt(2500)).toThrow('`capacity(2000)`');
  });
});

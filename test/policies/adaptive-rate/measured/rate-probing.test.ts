import { describe, expect, it } from 'vitest';
import { SentAttempt } from '../../../../src/policies/adaptive-rate/attempts/sent-attempt.ts';
import {
  type RateDoubt,
  RateProbing,
} from '../../../../src/policies/adaptive-rate/measured/rate-probing.ts';

const PER_MS = 0.1;

/** Accepts paced attempts at the pace, from a time on. @returns the pace after them */
function accept(
  probing: RateProbing,
  options: { count: number; at?: number; horizonMs?: number; doubt?: RateDoubt },
): number {
  const { count, at = 0, horizonMs = 0, doubt } = options;
  let now = at;
  for (let order = 0; order < count; order += 1) {
    const pacePerMs = probing.paceOf(PER_MS);
    now += 1 / pacePerMs;
    const sent = { at: now, order, others: 0, pacePerMs, isPaced: true, isSaved: false, idleMs: 0 };
    probing.accepted(new SentAttempt(sent), horizonMs, doubt);
  }
  return probing.paceOf(PER_MS) / PER_MS;
}

function begun(closedMs = 0): RateProbing {
  const probing = new RateProbing();
  probing.plan(0.05, 8);
  probing.start(PER_MS, 0, 0, 0, closedMs);
  return probing;
}

describe('what is tried beyond the measured rate', () => {
  it('doubles with eight verified attempts where there is little evidence', () => {
    expect(accept(begun(), { count: 0 })).toBeCloseTo(1.045, 9);
    expect(accept(begun(), { count: 8 })).toBeCloseTo(1.095, 2);
    expect(accept(begun(), { count: 16 })).toBeCloseTo(1.195, 1);
  });

  it.each([
    [false, 100],
    [true, 30],
  ])('doubles with few attempts though much is known, where that changed: %s', (hasChanged, n) => {
    const probing = new RateProbing();
    probing.plan(0.05, 1_000, hasChanged);
    probing.start(PER_MS, 0, 0);
    expect(accept(probing, { count: n })).toBeCloseTo(1.095, 2);
  });

  it('doubles with four attempts each time where the rate has fallen far', () => {
    expect(accept(begun(), { count: 4, doubt: 'fallen' })).toBeCloseTo(1.095, 2);
    expect(accept(begun(), { count: 40, doubt: 'fallen' })).toBeGreaterThan(40);
    expect(accept(begun(), { count: 40 })).toBeLessThan(3);
  });

  it('doubles with forty attempts at least where some are rejected whatever the rate', () => {
    expect(accept(begun(), { count: 40, doubt: 'hidden' })).toBeCloseTo(1.095, 2);
  });

  it('keeps its share where the limit has changed', () => {
    const probing = begun();
    const before = accept(probing, { count: 16 });
    probing.scale(4);
    expect(probing.paceOf(4 * PER_MS) / (4 * PER_MS)).toBeCloseTo(before, 9);
  });

  it('is given up in part where others use up the limit, and grows by parts of the whole', () => {
    const probing = begun();
    const usedUpPerMs = 10 * PER_MS;
    const closed = { closedMs: 100, unknownMs: 0 };
    probing.stopped({ usedUpPerMs, pacePerMs: PER_MS, perMs: PER_MS, isSure: true, ...closed });
    expect(accept(probing, { count: 0 })).toBeCloseTo(0.9, 9);
    expect(accept(probing, { count: 100 })).toBeCloseTo(0.9 + 100 * 2e-4 * 10, 9);
  });

  it('stays below a pace whose rejections cost too much, and grows from there later', () => {
    const probing = begun();
    const closed = { closedMs: 1_000, unknownMs: 1_000 };
    const stop = { usedUpPerMs: 0, pacePerMs: 2 * PER_MS, perMs: PER_MS, isSure: false, ...closed };
    probing.stopped(stop);
    probing.stopped(stop);
    probing.start(PER_MS, 0, 0, 0, 0);
    const heldFor = 16 * 1_000 * 2 * PER_MS;
    expect(accept(probing, { count: heldFor })).toBeCloseTo(1.6, 9);
    expect(accept(probing, { count: heldFor / 8 })).toBeCloseTo(1.6 * 2 ** 0.25, 9);
    probing.scale(0.5);
    expect(probing.paceOf(PER_MS)).toBeCloseTo(PER_MS, 9);
    // The measured rate itself is not held back, whatever was rejected.
    probing.start(4 * PER_MS, 0, 0, 0, 0);
    expect(probing.paceOf(4 * PER_MS)).toBeGreaterThan(3.9 * PER_MS);
  });

  it('doubles no sooner than what is out is verified', () => {
    // A hundred are out at this pace before the first rejection could be known.
    const horizonMs = 1_000;
    expect(accept(begun(), { count: 16, horizonMs })).toBeLessThan(1.055);
    expect(accept(begun(), { count: 105, horizonMs })).toBeCloseTo(1.095, 2);
  });

  it('grows by half at the most while the provider may only have been saving', () => {
    const closedMs = 2_000;
    expect(accept(begun(closedMs), { count: 150 })).toBeCloseTo(1.5 * 1.045, 6);
    expect(accept(begun(closedMs), { count: 400 })).toBeGreaterThan(1.5 * 1.5);
    expect(accept(begun(), { count: 150 })).toBeGreaterThan(8);
  });

  it('follows the mean rate where the same window is overrun again and again', () => {
    const probing = begun();
    const overrun = () => probing.cycled(false, 200, 200 / (2 * PER_MS), 8 * PER_MS, PER_MS);
    overrun();
    const usual = accept(probing, { count: 32 });
    overrun();
    // Below twice the rate, which is the mean, it doubles with eight attempts, then it stops there.
    probing.plan(0.05, 100);
    probing.start(PER_MS, 0, 0, 0, 0);
    expect(accept(probing, { count: 8 })).toBeCloseTo(1.095, 2);
    expect(accept(probing, { count: 100 })).toBeCloseTo(2.2, 9);
    expect(usual).toBeGreaterThan(1.5);
    // It is not the same window if it has more than that.
    expect(accept(probing, { count: 100 })).toBeGreaterThan(2.5);
    probing.plan(0.5, 8);
    probing.start(PER_MS, 0, 0, 0, 0);
    probing.scale(0.5);
    expect(accept(probing, { count: 90 })).toBeCloseTo(1.1, 9);
  });

  it('doubles at most once in a window, twice in the next and so on', () => {
    const within = (count: number, ...windows: [accepted: number, isWindow: boolean][]) => {
      const probing = begun();
      for (const [accepted, isWindow] of windows) {
        probing.cycled(isWindow, accepted, accepted / PER_MS, 0, PER_MS);
      }
      return accept(probing, { count }) - 0.995;
    };
    const window = [200, true] as const;
    const usual = within(16);
    expect(within(16, [...window])).toBeLessThan(0.3 * usual);
    expect(within(100, [...window])).toBeLessThan(0.1);
    expect(within(200, [...window])).toBeGreaterThan(0.1);
    expect(within(200, [...window])).toBeLessThan(0.2);
    // A small window bounds nothing, and one of more than 400 does no more than one of 400.
    expect(within(16, [8, true])).toBeCloseTo(usual, 9);
    expect(within(400, [2_000, true])).toBeCloseTo(within(400, [400, true]), 9);
    // Other closures end it by and by.
    const others = new Array<[number, boolean]>(8).fill([200, false]);
    expect(within(16, [...window], ...others)).toBeCloseTo(usual, 9);
  });

  it('grows more slowly the further it leads away from what was measured', () => {
    const probing = begun();
    const beginning = accept(probing, { count: 0 }) - 0.995;
    expect(accept(probing, { count: 8 }) - 0.995).toBeGreaterThan(1.9 * beginning);
    const later = accept(probing, { count: 40 }) - 0.995;
    expect(accept(probing, { count: 8 }) - 0.995).toBeLessThan(1.6 * later);
  });

  it('never falls while attempts are accepted, however late rejections come back', () => {
    const probing = begun();
    const paces = [probing.paceOf(PER_MS)];
    for (let at = 0; at < 20_000; at += 5) {
      paces.push(PER_MS * accept(probing, { count: 1, at, horizonMs: 2_000 }));
    }
    expect(paces).toEqual(paces.toSorted((one, other) => one - other));
    expect(paces.at(-1)).toBeGreaterThan(1.5 * PER_MS);
  });

  it('takes the shortest of some closures: probes and named waits make others longer', () => {
    const probing = begun(2_000);
    probing.start(PER_MS, 0, 0, 0, 30_000);
    expect(accept(probing, { count: 150 })).toBeCloseTo(1.5 * 1.045, 6);
    const other = begun(100);
    other.start(PER_MS, 0, 0, 0, 30_000);
    expect(accept(other, { count: 150 })).toBeGreaterThan(4);
  });

  it('keeps what it knows of closures after a rejection by chance', () => {
    const probing = begun(2_000);
    probing.start(PER_MS, 0, 0);
    expect(accept(probing, { count: 150 })).toBeCloseTo(1.5 * 1.045, 6);
  });
});

describe('what is tried where more is accepted than was measured', () => {
  it('goes on from there, and doubles with 20 verified attempts', () => {
    const probing = new RateProbing();
    probing.plan(0.05, 1_000);
    probing.start(PER_MS, 0, 0);
    const before = accept(probing, { count: 100 });
    expect(before).toBeCloseTo(1.095, 2);
    probing.hasten();
    expect(accept(probing, { count: 0 })).toBe(before);
    expect(accept(probing, { count: 20 })).toBeCloseTo(1.195, 1);
    probing.hasten();
    expect(accept(probing, { count: 20 })).toBeGreaterThan(1.3);
  });

  it('begins anew as ever', () => {
    const probing = begun();
    probing.plan(0.05, 1_000);
    accept(probing, { count: 100 });
    probing.hasten();
    probing.start(PER_MS, 0, 0);
    probing.plan(0.05, 8);
    expect(accept(probing, { count: 8 })).toBeCloseTo(1.095, 2);
  });

  it.each([
    ['stays', 1.02, 1.094],
    ['rises to the initial excess above the raised rate', 1.09, 1.09 * 1.045],
  ])('%s, if the measured rate is raised', (_what, raised, expected) => {
    const probing = begun();
    expect(accept(probing, { count: 8 })).toBeCloseTo(1.094, 2);
    probing.raised(PER_MS, raised * PER_MS);
    expect(probing.paceOf(raised * PER_MS) / PER_MS).toBeCloseTo(expected, 2);
  });

  it('is not slower than before', () => {
    const probing = begun();
    probing.hasten();
    expect(accept(probing, { count: 8 })).toBeCloseTo(1.095, 2);
  });
});

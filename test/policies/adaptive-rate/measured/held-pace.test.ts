import { describe, expect, it } from 'vitest';
import {
  type EndedClosure,
  HeldPace,
} from '../../../../src/policies/adaptive-rate/measured/held-pace.ts';

/** A second that may have been over at once: 30 a second were rejected. */
const needless = { pacePerMs: 0.03, perMs: 0.01, closedMs: 1_000, unknownMs: 900 };
/** The attempts that such a pace sends in sixteen of these closures. */
const HELD = 16 * 27;

/** After two such closures. */
function held(more: Partial<EndedClosure> = {}): HeldPace {
  const pace = new HeldPace();
  pace.stopped(needless);
  pace.stopped({ ...needless, ...more });
  return pace;
}

describe('the pace after closures that were longer than necessary', () => {
  it('is held below the rejected one for the requests of sixteen such closures, then grows', () => {
    const pace = held();
    expect(pace.most(0)).toBeCloseTo(0.024, 9);
    expect(pace.most(HELD)).toBeCloseTo(0.024, 9);
    expect(pace.most(1.5 * HELD)).toBeCloseTo(0.048, 9);
    expect(pace.most(2 * HELD)).toBeCloseTo(0.096, 9);
  });

  it('is held although the paces of the two differ a little', () => {
    expect(held({ pacePerMs: 0.0325 }).most(0)).toBeCloseTo(0.026, 9);
  });

  it.each<[string, Partial<EndedClosure>]>([
    ['of which half was necessary', { closedMs: 1_800 }],
    ['that cost few requests', { closedMs: 500, unknownMs: 500 }],
    ['after which the rate is near the rejected pace', { perMs: 0.024 }],
    ['that began at a much higher pace', { pacePerMs: 0.034 }],
    ['that began at a much lower pace', { pacePerMs: 0.027 }],
    ['before which there was no pace', { pacePerMs: Number.POSITIVE_INFINITY }],
  ])('is not held after one %s', (_which, more) => {
    expect(held(more).most(0)).toBe(Number.POSITIVE_INFINITY);
  });

  it('is not held after a single one', () => {
    const pace = new HeldPace();
    pace.stopped(needless);
    expect(pace.most(0)).toBe(Number.POSITIVE_INFINITY);
  });

  it('is held no more after a closure that was as long as necessary', () => {
    const pace = held();
    pace.stopped({ ...needless, unknownMs: 0 });
    expect(pace.most(0)).toBe(Number.POSITIVE_INFINITY);
  });

  it('changes with the limit', () => {
    const pace = held();
    pace.scale(2);
    expect(pace.most(0)).toBeCloseTo(0.048, 9);
  });
});

import { describe, expect, it } from 'vitest';
import type { ReportedLimit } from '../../../src/model/feedback.ts';
import { controlOf, NO_LIMIT, OK, OVERLOADED, sendAll, THROTTLED } from './control-rig.ts';

describe('tokens, in the control of a rate,', () => {
  const tokensTold: ReportedLimit = {
    unit: 'tokens',
    limit: 60_000,
    remaining: 50_000,
    windowMs: 60_000,
  };

  it('count only where a limit of them is configured, told or hit', () => {
    const plain = controlOf();
    sendAll(plain, 0, 5, OK, 100);
    expect(plain.countsTokens).toBe(false);
    const hard = controlOf({ hard: (unit) => (unit === 'tokens' ? 1 : NO_LIMIT) });
    expect(hard.countsTokens).toBe(true);
    const told = controlOf();
    told.accepted(told.take(0, 0), { ...OK, limits: [tokensTold] }, undefined, 50);
    expect(told.countsTokens).toBe(true);
    const hit = controlOf();
    const from = hit.snapshot(0).ceilingPerSecond;
    expect(hit.rejected(hit.take(0, 0), { ...THROTTLED, limit: 'Tokens per min' }, 50)).toBe(false);
    expect(hit.countsTokens).toBe(true);
    // It was not requests that were too many.
    expect(hit.snapshot(50)).toMatchObject({ ceilingPerSecond: from, sinceCutMs: undefined });
  });

  it('hold back by what they cost; requests then need not feel for a rate', () => {
    const control = controlOf({ hard: (unit) => (unit === 'tokens' ? 1 : NO_LIMIT) });
    expect(control.wait(0)).toBe(0);
    // What three seconds allow may be sent at once.
    control.take(3_000 * 0.998, 0);
    expect(control.wait(0)).toBeCloseTo(0, 9);
    control.take(500, 0);
    expect(control.wait(0)).toBeCloseTo(500 / 0.998, 9);
    expect(control.snapshot(0)).toMatchObject({
      perSecond: NO_LIMIT,
      origin: 'start',
      tokens: { perSecond: 998, origin: 'limit' },
    });
  });

  it('are corrected by what was used, and expected in proportion from then on', () => {
    const control = controlOf({ hard: (unit) => (unit === 'tokens' ? 1 : NO_LIMIT) });
    control.wait(0);
    control.take(3_000 * 0.998, 0);
    const sending = control.take(500, 0);
    control.accepted(sending, OK, 100, 0);
    expect(control.wait(0)).toBeCloseTo(100 / 0.998, 9);
    // A fifth of what is estimated.
    control.take(500, 0);
    expect(control.wait(0)).toBeCloseTo(200 / 0.998, 9);
  });

  it('are told a rate, and learned of rejections that name them', () => {
    const control = controlOf({ startPerSecond: NO_LIMIT });
    control.accepted(control.take(100, 0), { ...OK, limits: [tokensTold] }, 100, 50);
    control.wait(50);
    // The first was not counted.
    expect(control.snapshot(50).tokens).toMatchObject({ origin: 'start', perSecond: NO_LIMIT });
    control.accepted(control.take(100, 50), { ...OK, limits: [tokensTold] }, 100, 100);
    control.wait(100);
    expect(control.snapshot(100).tokens).toMatchObject({ origin: 'headers', perSecond: 998 });
    let now = 100;
    for (let n = 0; n < 100; n += 1) {
      now += 100;
      control.accepted(control.take(50, now), OK, 50, now);
    }
    now += 100;
    const sending = control.take(50, now);
    expect(control.rejected(sending, { ...THROTTLED, limit: 'tokens' }, now)).toBe(true);
    control.wait(now);
    const { tokens, ceilingPerSecond } = control.snapshot(now);
    expect(ceilingPerSecond).toBeUndefined();
    expect(tokens?.ceilingPerSecond).toBeCloseTo(500, -1);
    expect(tokens?.origin).toBe('learned');
  });

  it('that were rejected are not counted as accepted', () => {
    const control = controlOf({ startPerSecond: NO_LIMIT, hard: () => 1_000 });
    let now = 0;
    for (let n = 0; n < 100; n += 1) {
      now += 100;
      const sending = control.take(50, now);
      if (n % 2 === 0) control.accepted(sending, OK, 50, now);
      else control.rejected(sending, { ...OVERLOADED, retryAfterMs: 1 }, now);
    }
    now += 100;
    const verdict = { ...THROTTLED, limit: 'tokens', retryAfterMs: 2_000 };
    control.rejected(control.take(50, now), verdict, now);
    expect(control.snapshot(now).tokens?.ceilingPerSecond).toBeCloseTo(2_500 / 12.1, 1);
  });
});

import { describe, expect, it } from 'vitest';
import type { RateControl } from '../../../src/core/adaptive-rate/rate-control.ts';
import type { ReportedLimit } from '../../../src/model/feedback.ts';
import {
  controlOf,
  NO_LIMIT,
  OK,
  OVERLOADED,
  sendAll,
  THROTTLED,
  whenFree,
} from './control-rig.ts';

/** 10/s, of which 500 are accepted, and then one is rejected. */
function learnedTen(control: RateControl): number {
  let now = 0;
  for (let n = 0; n < 500; n += 1) {
    now = n * 100;
    control.accepted(control.take(0, now), OK, undefined, now + 50);
  }
  control.rejected(control.take(0, 50_000), THROTTLED, 50_050);
  return 50_050;
}

describe('the control of a rate', () => {
  it('spaces requests from the start, and asks to be asked again each second', () => {
    const control = controlOf({ startPerSecond: 0.1 });
    expect(control.wait(0)).toBe(0);
    control.take(0, 0);
    expect(control.wait(0)).toBe(1_000);
    expect(control.snapshot(0)).toEqual({
      perSecond: 0.1,
      origin: 'start',
      ceilingPerSecond: undefined,
      tokens: undefined,
      isOut: false,
      sinceCutMs: undefined,
    });
  });

  it('grows while somebody waits for the rate, and not while nobody does', () => {
    const control = controlOf({ startPerSecond: 1 });
    control.take(0, 0);
    control.wait(0);
    control.wait(50);
    expect(control.perSecond).toBeGreaterThan(1);
    const idle = controlOf();
    for (let now = 0; now < 60_000; now += 1_000) {
      expect(idle.wait(now)).toBe(0);
      idle.take(0, now);
    }
    expect(idle.perSecond).toBe(10);
  });

  it("lets a second's worth go at once at first, once", () => {
    const control = controlOf({ startPerSecond: 5 });
    for (let n = 0; n < 5; n += 1) {
      expect(control.wait(0)).toBe(0);
      control.take(0, 0);
    }
    expect(control.wait(0)).toBe(200);
    control.wait(10_000);
    control.take(0, 10_000);
    expect(control.wait(10_000)).toBeGreaterThan(0);
  });

  it('bounds nothing until something is known, where it starts without a rate', () => {
    const control = controlOf({ startPerSecond: NO_LIMIT });
    for (let n = 0; n < 100; n += 1) {
      expect(control.wait(0)).toBe(0);
      control.take(0, 0);
    }
    expect(control.snapshot(0)).toMatchObject({ perSecond: NO_LIMIT, origin: 'start' });
  });

  it('goes on at two a second where the first is rejected at once', () => {
    const control = controlOf({ startPerSecond: NO_LIMIT });
    control.wait(0);
    expect(control.rejected(control.take(0, 0), THROTTLED, 50)).toBe(false);
    expect(control.perSecond).toBe(2);
    expect(whenFree(control, 50)).toBe(1_050);
    expect(control.snapshot(1_050)).toMatchObject({ origin: 'start', sinceCutMs: 1_000 });
  });

  it('counts what was sent before it was there', () => {
    const control = controlOf({ startPerSecond: NO_LIMIT }, { sent: 101, since: 0 });
    expect(control.rejected(control.early(100, 10_000), THROTTLED, 10_000)).toBe(true);
    expect(control.snapshot(10_000).ceilingPerSecond).toBeCloseTo(10, 12);
  });

  it('goes a little below a limit that was configured, from the first on', () => {
    const perMs = { requests: 5 / 1_000, tokens: NO_LIMIT };
    const control = controlOf({ hard: (unit) => perMs[unit] });
    control.wait(0);
    expect(control.snapshot(0)).toMatchObject({ origin: 'limit' });
    expect(control.perSecond).toBeCloseTo(0.998 * 5, 12);
    // As it is changed.
    perMs.requests = 2 / 1_000;
    control.wait(0);
    expect(control.perSecond).toBeCloseTo(0.998 * 2, 12);
  });

  it('lets nobody go before two intervals are over after a rejection that names no wait', () => {
    const control = controlOf();
    const now = learnedTen(control);
    expect(control.wait(now)).toBeCloseTo(200, -1);
    const slow = controlOf({ startPerSecond: 0.1 });
    slow.rejected(slow.take(0, 0), OVERLOADED, 20_000);
    expect(slow.wait(20_000)).toBe(1_000);
  });

  it.each([THROTTLED, OVERLOADED])('closes for as long as it is told: %o', (verdict) => {
    const control = controlOf();
    control.rejected(control.take(0, 0), { ...verdict, retryAfterMs: 5_000 }, 100);
    expect(control.wait(100)).toBe(5_000);
    // One that asks for less does not open it.
    control.rejected(control.take(0, 100), { ...verdict, retryAfterMs: 10 }, 200);
    expect(control.wait(200)).toBe(4_900);
    expect(control.wait(5_100)).toBe(0);
    expect(control.isOut).toBe(false);
  });

  it('believes no longer wait than it may', () => {
    const control = controlOf({ maxRetryAfterMs: 30_000 });
    control.rejected(control.take(0, 0), { ...THROTTLED, retryAfterMs: 1e300 }, 0);
    expect(control.wait(0)).toBe(30_000);
    expect(whenFree(control, 0)).toBe(30_000);
    expect(control.perSecond).toBeGreaterThan(1);
  });

  it('is out after three rejections in a row, until a probe is accepted', () => {
    const control = controlOf();
    let now = sendAll(control, 0, 3, OVERLOADED);
    expect(control.isOut).toBe(true);
    expect(control.wait(now)).toBe(1_000);
    now += 1_000;
    const probe = control.take(0, now);
    expect(control.wait(now)).toBe(250);
    control.accepted(probe, OK, undefined, now + 100);
    expect(control.isOut).toBe(false);
  });

  it('is not out where one of them was accepted', () => {
    const control = controlOf();
    let now = 0;
    for (let n = 0; n < 10; n += 1) {
      now = sendAll(control, now, 2, OVERLOADED);
      now = sendAll(control, now, 1);
    }
    expect(control.isOut).toBe(false);
  });

  it('lets the next one probe where a probe has failed otherwise, or was never sent', () => {
    for (const isSent of [true, false]) {
      const control = controlOf();
      const now = sendAll(control, 0, 3, OVERLOADED) + 1_000;
      expect(control.wait(now)).toBe(0);
      control.ended(control.take(0, now), isSent, now + 10);
      expect(control.isOut).toBe(true);
      expect(control.wait(now + 10)).toBe(0);
    }
  });

  it('learns no rate from overloads, and leaves out the time of an outage', () => {
    const control = controlOf();
    const cutAt = learnedTen(control);
    const known = control.snapshot(cutAt).ceilingPerSecond ?? 0;
    // Of what was sent at 10/s, nothing goes well for ten minutes.
    let now = sendAll(control, 60_000, 90);
    const outAt = now;
    while (now < outAt + 600_000) now = sendAll(control, now, 1, OVERLOADED);
    expect(control.snapshot(now)).toMatchObject({ isOut: true, ceilingPerSecond: known });
    now = sendAll(control, now, 100);
    expect(control.isOut).toBe(false);
    now = whenFree(control, now);
    control.rejected(control.take(0, now), THROTTLED, now);
    const after = control.snapshot(now).ceilingPerSecond ?? 0;
    expect(after / known).toBeGreaterThan(0.6);
  });

  it('gives back what was never sent', () => {
    const control = controlOf({ startPerSecond: 1 });
    control.wait(0);
    const sending = control.take(0, 0);
    expect(control.wait(0)).toBe(1_000);
    control.ended(sending, false, 0);
    expect(control.wait(0)).toBe(0);
    control.ended(control.take(0, 0), true, 0);
    expect(control.wait(0)).toBe(1_000);
  });

  it('is told a rate by answers, of the shortest window', () => {
    const control = controlOf();
    const day = { unit: 'requests', limit: 1, remaining: 0, windowMs: 86_400_000 } as const;
    const minute = { unit: 'requests', limit: 120, remaining: 100, windowMs: 60_000 } as const;
    control.accepted(control.take(0, 0), { ...OK, limits: [day] }, undefined, 50);
    control.wait(50);
    expect(control.snapshot(50).origin).toBe('start');
    control.accepted(control.take(0, 50), { ...OK, limits: [day, minute] }, undefined, 100);
    control.wait(100);
    expect(control.snapshot(100)).toMatchObject({ origin: 'headers', perSecond: 2 * 0.998 });
    // It is this that it goes on from where nothing more is told.
    control.wait(20_000);
    expect(control.snapshot(20_000).origin).toBe('start');
    expect(control.perSecond).toBeLessThan(5);
  });

  it('takes a rate that was learned for the one that is told, where they are near', () => {
    const told = (limit: number): ReportedLimit[] => [{ unit: 'requests', limit, remaining: 5 }];
    const near = controlOf();
    let now = learnedTen(near);
    const sending = near.take(0, now);
    near.accepted(sending, { ...OK, limits: told(600) }, undefined, now);
    near.wait(now);
    expect(near.perSecond).toBeCloseTo(9.9, 12);
    // It would be exceeded by now.
    near.wait(now + 14_000);
    expect(near.snapshot(now).origin).toBe('headers');
    expect(near.perSecond).toBeCloseTo(9.98, 12);
    const far = controlOf();
    now = learnedTen(far);
    far.accepted(far.take(0, now), { ...OK, limits: told(400) }, undefined, now);
    far.wait(now);
    expect(far.snapshot(now).origin).toBe('learned');
  });
});

import { describe, expect, it } from 'vitest';
import type { PolicyEvent } from '../../src/model/policy-events.ts';
import { RateEvents } from '../../src/policies/rate-events.ts';

function recorded() {
  const events: PolicyEvent[] = [];
  return { events, rate: new RateEvents((event) => events.push(event)) };
}

describe('the events of a learned rate', () => {
  it('report a rate that has changed by a tenth since the last event, and no less', () => {
    const { events, rate } = recorded();
    rate.measured(50, 20, 0);
    expect(rate.drifted({ perSecond: 21.9, origin: 'learned' }, 1)).toBe(false);
    expect(rate.drifted({ perSecond: 22, origin: 'learned' }, 2)).toBe(true);
    expect(rate.drifted({ perSecond: 20.1, origin: 'learned' }, 3)).toBe(false);
    expect(rate.drifted({ perSecond: 20, origin: 'learned' }, 4)).toBe(true);
    expect(events).toEqual([
      { kind: 'rateAdapted', at: 0, reason: 'rejected', from: 50, to: 20 },
      { kind: 'rateAdapted', at: 2, reason: 'accepted', from: 20, to: 22 },
      { kind: 'rateAdapted', at: 4, reason: 'estimate', from: 22, to: 20 },
    ]);
  });

  it('report a bound on attempts in flight that has changed by a tenth', () => {
    const { events, rate } = recorded();
    rate.bounded(40, 37, 0);
    rate.bounded(40, 20, 1);
    rate.bounded(20, 21, 2);
    rate.bounded(21, 22, 3);
    expect(events).toEqual([
      { kind: 'limitAdapted', at: 1, reason: 'failures', from: 40, to: 20 },
      { kind: 'limitAdapted', at: 3, reason: 'accepted', from: 20, to: 22 },
    ]);
  });

  it('name the source of a rate that the provider has reported', () => {
    const { events, rate } = recorded();
    rate.drifted({ perSecond: 5, origin: 'headers' }, 0);
    rate.drifted({ perSecond: 9, origin: 'limit' }, 1);
    expect(events).toMatchObject([
      { reason: 'headers', from: Number.POSITIVE_INFINITY, to: 5 },
      { reason: 'limit', from: 5, to: 9 },
    ]);
  });

  it('report no rate while nothing bounds it', () => {
    const { events, rate } = recorded();
    expect(rate.drifted({ perSecond: Number.POSITIVE_INFINITY, origin: 'start' }, 0)).toBe(false);
    rate.measured(9, 5, 1);
    expect(rate.drifted({ perSecond: Number.POSITIVE_INFINITY, origin: 'start' }, 2)).toBe(false);
    expect(events).toHaveLength(1);
  });

  it('report a long wait once, until the wait is short', () => {
    const { events, rate } = recorded();
    const told = [10, 11, 12, 10, 20].map((waitMs, at) => rate.held(waitMs, 10, at));
    expect(told).toEqual([false, true, false, false, true]);
    expect(events).toEqual([
      { kind: 'rateHeld', at: 1, untilAt: 12 },
      { kind: 'rateHeld', at: 4, untilAt: 24 },
    ]);
  });

  it('report in which direction the limit has moved, and outages', () => {
    const { events, rate } = recorded();
    rate.limited(8, 4, 0);
    rate.limited(4, 9, 1);
    rate.outage(true, 2);
    rate.outage(false, 3);
    expect(events).toEqual([
      { kind: 'limitAdapted', at: 0, reason: 'rejected', from: 8, to: 4 },
      { kind: 'limitAdapted', at: 1, reason: 'accepted', from: 4, to: 9 },
      { kind: 'outageStarted', at: 2, reason: 'rejected' },
      { kind: 'outageEnded', at: 3, reason: 'rejected' },
    ]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimits } from '../../../src/policies/rate-limit/rate-limits.ts';
import { RateLimitPolicy } from '../../../src/policies/rate-limit-policy.ts';
import { Gate } from '../../../src/queue/gate.ts';
import { WaitTimeouts } from '../../../src/queue/queue-rules.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import type { Clock } from '../../../src/util/clock.ts';
import { changeLimits } from '../../support/change-limits.ts';
import { ticketMaker, Waiter } from '../../support/waiter.ts';

const WINDOW = 1_000;

/** A gate of 2 requests a second, by a clock that may be off from the time that timers go by. */
function gateOf(timeouts?: (clock: Clock) => WaitTimeouts) {
  const timers = new ManualClock(10_000);
  const off = { ms: 0 };
  const clock: Clock = {
    now: () => timers.now() + off.ms,
    setTimer: (callback, delayMs) => timers.setTimer(callback, delayMs),
  };
  const limits = new RateLimits({ requests: { limit: 2, windowMs: WINDOW } });
  const policy = new RateLimitPolicy(
    limits,
    { onLimit: 'wait', refundRejected: false },
    () => undefined,
  );
  const rules = timeouts === undefined ? {} : { timeouts: timeouts(clock) };
  const gate = new Gate('rateLimit', policy, clock, undefined, rules);
  const make = ticketMaker(timers);
  const passedAt: number[] = [];
  const waiter = new Waiter(() => passedAt.push(clock.now()));
  const arrive = () => {
    const ticket = make();
    if (gate.enter(ticket, waiter)) passedAt.push(clock.now());
    return ticket;
  };
  return { timers, clock, off, gate, arrive, passedAt, waiter };
}

describe('a clock', () => {
  it('that stands still admits what fits, and no more, however often it is read', () => {
    const { gate, arrive, passedAt, timers } = gateOf();
    for (let n = 0; n < 5; n += 1) arrive();
    for (let n = 0; n < 1_000; n += 1) gate.drain();
    expect(passedAt).toHaveLength(2);
    expect(timers.pendingTimers).toBe(1);
  });

  it('that stands still when the timer fires has it set anew, for as long as is left', () => {
    const { off, arrive, passedAt, timers } = gateOf();
    for (let n = 0; n < 3; n += 1) arrive();
    off.ms = -WINDOW;
    timers.advance(WINDOW);
    expect(passedAt).toHaveLength(2);
    expect(timers.pendingTimers).toBe(1);
    timers.advance(WINDOW);
    expect(passedAt).toHaveLength(3);
  });

  it('that leaps ahead by hours opens the window once, for the first waiters', () => {
    const { off, gate, arrive, passedAt, waiter, timers } = gateOf();
    for (let n = 0; n < 5; n += 1) arrive();
    off.ms = 5 * 3_600_000;
    expect(gate.snapshot()).toMatchObject({ waiting: 3, nextInMs: 0 });
    arrive();
    expect(passedAt).toHaveLength(2);
    timers.advance(WINDOW);
    expect(waiter.order).toEqual([2, 3]);
    timers.advance(WINDOW);
    expect(waiter.order).toEqual([2, 3, 4, 5]);
    expect(timers.pendingTimers).toBe(0);
  });

  it('that goes back a bit lets nothing pass too early, and no wait is negative', () => {
    const { off, gate, arrive, passedAt, timers } = gateOf();
    arrive();
    arrive();
    const third = arrive();
    off.ms = -100;
    expect(gate.snapshot().longestWaitMs).toBe(0);
    timers.advance(WINDOW);
    expect(passedAt).toHaveLength(2);
    timers.advance(100);
    expect(passedAt.at(-1)).toBe(10_000 + WINDOW);
    expect(third.stats().waits.rateLimit).toEqual({
      waitMs: WINDOW,
      rounds: 2,
      limits: { requests: WINDOW },
    });
    off.ms = -1_000_000;
    arrive();
    const slow = arrive();
    off.ms = -2_000_000;
    changeLimits(gate.policy.limits, { requests: { limit: 9, windowMs: WINDOW } }, 0);
    gate.drain();
    expect(slow.stats().waits.rateLimit?.waitMs).toBe(0);
  });

  it('that goes back keeps a bound for waiting, by its own time', () => {
    const { off, arrive, timers } = gateOf((clock) => new WaitTimeouts(500, clock));
    arrive();
    arrive();
    const late = arrive();
    timers.advance(100);
    off.ms = -100;
    timers.advance(499);
    expect(late.refusal).toBeUndefined();
    timers.advance(1);
    expect(late.refusal).toMatchObject({ code: 'WAIT_TIMEOUT' });
  });

  it('that leaps at random blocks no request, and the limit holds by that clock', () => {
    const step = fc.record({
      what: fc.constantFrom('arrive', 'arrive', 'advance', 'leap'),
      ms: fc.integer({ min: -300, max: 1_500 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { off, gate, arrive, passedAt, timers } = gateOf();
        let arrived = 0;
        for (const { what, ms } of steps) {
          if (what === 'leap') off.ms += ms;
          else if (what === 'advance') timers.advance(Math.abs(ms));
          else {
            arrive();
            arrived += 1;
          }
        }
        timers.runAll({ maxMs: 1e9 });
        expect(passedAt).toHaveLength(arrived);
        expect(gate.waiting).toBe(0);
        // The latest that the clock has shown is what counts: time does not go back.
        let latest = 0;
        const seen = passedAt.map((at) => {
          latest = Math.max(latest, at);
          return latest;
        });
        seen.forEach((at, index) => {
          if (index >= 2) expect(at - (seen[index - 2] as number)).toBeGreaterThanOrEqual(WINDOW);
        });
      }),
    );
  });
});

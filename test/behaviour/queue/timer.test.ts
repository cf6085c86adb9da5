import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Backoff } from '../../../src/policies/backoff.ts';
import { Gate } from '../../../src/queue/gate.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';
import type { Clock } from '../../../src/util/clock.ts';
import { slotGate } from '../../support/slot-gate.ts';
import { ticketMaker, Waiter } from '../../support/waiter.ts';

function backoffGate(clock: Clock = new ManualClock()) {
  const backoff = new Backoff('all', 10_000);
  return { backoff, gate: new Gate('backoff', backoff, clock) };
}

describe('the timer of a gate', () => {
  it('is set only for the first waiter', () => {
    const clock = new ManualClock();
    const { backoff, gate } = backoffGate(clock);
    const ticket = ticketMaker(clock);
    const waiter = new Waiter();
    backoff.reject(1_000, 0, 0);
    expect(clock.pendingTimers).toBe(0);
    for (let n = 0; n < 10; n += 1) {
      gate.enter(ticket(), waiter);
      gate.drain();
      expect(clock.pendingTimers).toBe(1);
    }
    clock.advance(999);
    expect(waiter.tickets).toHaveLength(0);
    clock.advance(1);
    expect(waiter.tickets).toHaveLength(10);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is not set for a wait that only a release can end', () => {
    const { gate, ticket, clock } = slotGate(1);
    gate.enter(ticket(), new Waiter());
    gate.enter(ticket(), new Waiter());
    expect(clock.pendingTimers).toBe(0);
  });

  it('is set by the one decision on a newcomer that has to wait', () => {
    const clock = new ManualClock();
    const { backoff, gate } = backoffGate(clock);
    const asked = vi.spyOn(backoff, 'wait');
    backoff.reject(1_000, 0, 0);
    gate.enter(ticketMaker(clock)(), new Waiter());
    expect(asked).toHaveBeenCalledTimes(1);
    gate.enter(ticketMaker(clock)(), new Waiter());
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('is set anew when the wait grows, and fires no earlier', () => {
    const clock = new ManualClock();
    const { backoff, gate } = backoffGate(clock);
    const waiter = new Waiter();
    backoff.reject(1_000, 0, 0);
    gate.enter(ticketMaker(clock)(), waiter);
    backoff.reject(5_000, 1, 0);
    gate.drain();
    expect(clock.pendingTimers).toBe(1);
    expect(clock.nextTimerMs).toBe(5_000);
  });

  it('asks again when it fires and the wait has grown unnoticed', () => {
    const clock = new ManualClock();
    const { backoff, gate } = backoffGate(clock);
    const waiter = new Waiter();
    backoff.reject(1_000, 0, 0);
    gate.enter(ticketMaker(clock)(), waiter);
    backoff.reject(5_000, 1, 500);
    clock.advance(5_499);
    expect(waiter.tickets).toHaveLength(0);
    expect(clock.pendingTimers).toBe(1);
    clock.advance(1);
    expect(waiter.tickets[0]?.stats().waits).toEqual({ backoff: { waitMs: 5_500, rounds: 2 } });
  });

  it('is cancelled when the last waiter leaves', () => {
    const clock = new ManualClock();
    const { backoff, gate } = backoffGate(clock);
    const waiter = new Waiter();
    backoff.reject(1_000, 0, 0);
    gate.enter(ticketMaker(clock)(), waiter);
    waiter.gone = true;
    gate.left(waiter);
    expect(clock.pendingTimers).toBe(0);
  });

  it('may fire early, as often as it likes', () => {
    // Timers of the platform are known to be early by a part of a millisecond.
    const clock = new ManualClock();
    const hasty: Clock = {
      now: () => clock.now(),
      setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs * 0.9),
    };
    const { backoff, gate } = backoffGate(hasty);
    const waiter = new Waiter();
    backoff.reject(1_000, 0, 0);
    gate.enter(ticketMaker(clock)(), waiter);
    clock.advance(999.9);
    expect(waiter.tickets).toHaveLength(0);
    expect(clock.pendingTimers).toBe(1);
    clock.advance(0.2);
    expect(waiter.tickets).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('that fires late keeps the order: newcomers queue behind due requests', () => {
    let now = 0;
    const timers: (() => void)[] = [];
    const late: Clock = {
      now: () => now,
      setTimer: (callback) => {
        timers.push(callback);
        return { cancel: () => {} };
      },
    };
    const { backoff, gate } = backoffGate(late);
    const ticket = ticketMaker(new ManualClock());
    const waiter = new Waiter();
    backoff.reject(1_000, 0, 0);
    gate.enter(ticket(), waiter);
    now = 1_000_000_000;
    expect(gate.enter(ticket(), waiter)).toBe(false);
    for (const fire of timers) fire();
    expect(waiter.order).toEqual([0, 1]);
    expect(timers).toHaveLength(1);
  });

  it('works with a clock that stands still', () => {
    const clock = new ManualClock();
    const { backoff, gate } = backoffGate(clock);
    const waiter = new Waiter();
    backoff.reject(1_000, 0, 0);
    for (let n = 0; n < 3; n += 1) gate.enter(ticketMaker(clock)(), waiter);
    for (let n = 0; n < 1_000; n += 1) gate.drain();
    expect(waiter.tickets).toHaveLength(0);
    expect(clock.pendingTimers).toBe(1);
  });

  it('reaches every end of a backoff, in spite of rounding, in a few rounds', () => {
    const instant = fc.double({ min: 0, max: 1e12, noNaN: true });
    const length = fc.double({ min: 1e-6, max: 1e9, noNaN: true });
    fc.assert(
      fc.property(instant, length, instant, (startMs, waitMs, later) => {
        const clock = new ManualClock(startMs);
        const { backoff, gate } = backoffGate(clock);
        const waiter = new Waiter();
        backoff.reject(waitMs, 0, startMs);
        clock.advance(later % waitMs);
        const late = ticketMaker(clock)();
        const passed = gate.enter(late, waiter);
        clock.runAll({ maxMs: waitMs + 1 });
        expect(passed || waiter.tickets.length === 1).toBe(true);
        expect(clock.now()).toBeGreaterThanOrEqual(backoff.until);
        expect(late.stats().waits.backoff?.rounds ?? 1).toBeLessThan(4);
      }),
    );
  });
});

describe('a gate in throttled mode', () => {
  it('wakes the next waiter when the mode ends, or when a throttled slot is given back', () => {
    const { gate, ticket, clock, mode } = slotGate(400);
    const waiter = new Waiter();
    mode.throttledUntil = 10_000;
    const first = ticket();
    gate.enter(first, waiter);
    for (let n = 0; n < 5; n += 1) gate.enter(ticket(), waiter);
    expect(clock.nextTimerMs).toBe(10_000);
    clock.advance(100);
    first.settle('ok');
    expect(waiter.order).toEqual([1]);
    expect(clock.pendingTimers).toBe(1);
    clock.advance(9_900);
    expect(waiter.order).toEqual([1, 2, 3, 4, 5]);
    expect(clock.pendingTimers).toBe(0);
  });
});

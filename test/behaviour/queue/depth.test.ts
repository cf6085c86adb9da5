import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../support/cpu-time.ts';
import { slotGate } from '../../support/slot-gate.ts';
import { LateWaiter, Waiter } from '../../support/waiter.ts';

describe('a gate with a long queue', () => {
  it('admits 100,000 one after the other, each given back in the turn it came, without recursion', () => {
    const { gate, slots, ticket } = slotGate(1);
    let deepest = 0;
    let depth = 0;
    const waiter = new Waiter((admitted) => {
      depth += 1;
      deepest = Math.max(deepest, depth);
      admitted.settle('ok');
      depth -= 1;
    });
    const first = ticket();
    gate.enter(first, waiter);
    for (let n = 0; n < 100_000; n += 1) gate.enter(ticket(), waiter);
    first.settle('ok');
    expect(waiter.tickets).toHaveLength(100_000);
    expect(deepest).toBe(1);
    expect(slots.inFlight).toBe(0);
  });

  it('goes on with 100,000 that each bring the next one', () => {
    const { gate, slots, ticket } = slotGate(1);
    let left = 100_000;
    const waiter = new Waiter((admitted) => {
      left -= 1;
      if (left > 0) gate.enter(ticket(), waiter);
      admitted.settle('ok');
    });
    const first = ticket();
    gate.enter(first, waiter);
    gate.enter(ticket(), waiter);
    first.settle('ok');
    expect(left).toBe(0);
    expect(slots.inFlight).toBe(0);
  });

  it.each(['with', 'without'])(
    'admits requests that come back when they end, %s a ticket',
    (how) => {
      const { gate, slots, ticket } = slotGate(1);
      let left = 100_000;
      let depth = 0;
      let deepest = 0;
      const comeBack = () => {
        if (how === 'without') return gate.enterLater('x', waiter);
        const next = ticket();
        return gate.enter(next, waiter) ? next : undefined;
      };
      const waiter = new LateWaiter(
        () => ticket(),
        (admitted) => {
          depth += 1;
          deepest = Math.max(deepest, depth);
          admitted.settle('ok');
          left -= 1;
          const passed = left > 0 ? comeBack() : undefined;
          if (passed !== undefined) waiter.admitted(passed);
          depth -= 1;
        },
      );
      const first = ticket();
      gate.enter(first, waiter);
      gate.enter(ticket(), waiter);
      first.settle('ok');
      expect(left).toBe(0);
      expect(deepest).toBe(1);
      expect(slots.inFlight).toBe(0);
    },
  );

  it('skips 100,000 refused requests, without recursion', () => {
    const { gate, slots, ticket, clock } = slotGate(1);
    const gone = new LateWaiter(() => {
      if (!gone.gone) {
        gone.gone = true;
        gate.left(gone);
      }
      return undefined;
    });
    const first = ticket();
    gate.enter(first, new Waiter());
    for (let n = 0; n < 100_000; n += 1) gate.enterLater(n, gone);
    first.settle('ok');
    expect(gate.snapshot().waiting).toBe(0);
    expect(slots.inFlight).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('takes a time that grows with the number of waiters, not with its square', () => {
    const millis = (waiters: number): number => {
      const { gate, ticket } = slotGate(1);
      const waiter = new Waiter((admitted) => admitted.settle('ok'));
      const first = ticket();
      gate.enter(first, waiter);
      for (let n = 0; n < waiters; n += 1) gate.enter(ticket(), waiter);
      const start = cpuMs();
      first.settle('ok');
      return cpuMs() - start;
    };
    const best = (waiters: number) => Math.min(...[1, 2, 3].map(() => millis(waiters)));
    best(2_000);
    // 100 times as many: quadratic time would be 10,000 times as much.
    expect(best(200_000) / best(2_000)).toBeLessThan(2_000);
  });
});

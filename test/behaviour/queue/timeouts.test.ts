import { describe, expect, it } from 'vitest';
import { WaitTimeoutError } from '../../../src/model/errors.ts';
import type { Ticket } from '../../../src/model/ticket.ts';
import { ruledGates } from '../../support/ruled-gate.ts';
import { Waiter } from '../../support/waiter.ts';

const isLate = (ticket: Ticket) => ticket.refusal instanceof WaitTimeoutError;

function takenGate(waitTimeoutMs: number, isPrioritized = false) {
  const around = ruledGates({ waitTimeoutMs, isPrioritized });
  const { clock, ticket, slotGate } = around;
  const gate = slotGate(1);
  const holder = ticket();
  gate.enter(holder, new Waiter());
  /** When each was told, and whether it had waited too long. */
  const told: unknown[] = [];
  const waiter = new Waiter((admitted) =>
    told.push([admitted.value, clock.now(), isLate(admitted)]),
  );
  const arrive = (priority = 0) => {
    const arriving = ticket({ priority });
    if (gate.enter(arriving, waiter)) expect.fail('it has passed at once');
    return arriving;
  };
  return { ...around, gate, holder, waiter, told, arrive };
}

describe('a bound for waiting', () => {
  it('ends each wait at its time after arrival, in order, with one timer', () => {
    const { clock, gate, arrive, told } = takenGate(100);
    for (let n = 0; n < 3; n += 1) {
      arrive();
      expect(clock.pendingTimers).toBe(1);
      clock.advance(30);
    }
    expect(clock.nextTimerMs).toBe(100);
    clock.advance(1_000);
    expect(told).toEqual([
      [1, 100, true],
      [2, 130, true],
      [3, 160, true],
    ]);
    expect(gate.snapshot()).toMatchObject({ waiting: 0, inFlight: 1, longestWaitMs: 0 });
    expect(clock.pendingTimers).toBe(0);
  });

  it('names what the request waited for, and the bound', () => {
    const { clock, arrive } = takenGate(100);
    const late = arrive();
    clock.advance(99.9);
    expect(late.refusal).toBeUndefined();
    clock.advance(0.1);
    expect(late.refusal).toMatchObject({ waitTimeoutMs: 100, gate: 'concurrency' });
    expect(late.refusal?.message).toContain('100 ms');
  });

  it('that is taken away and put back lets those wait on that came meanwhile', () => {
    const { clock, queues, gate, told, arrive } = takenGate(100);
    arrive();
    queues.timeouts.configure(Number.POSITIVE_INFINITY);
    arrive();
    queues.timeouts.configure(50);
    clock.advance(1_000);
    expect(told).toEqual([[1, 50, true]]);
    expect(gate.waiting).toBe(1);
  });

  it('counts from the arrival of one that comes late to where it first waits', () => {
    const { clock, gate, ticket, waiter, told } = takenGate(100);
    const request = ticket();
    clock.advance(30);
    gate.enter(request, waiter);
    clock.advance(100);
    expect(told).toEqual([[1, 100, true]]);
  });

  it('leaves no timer when no request waits any more', () => {
    const { clock, gate, holder, waiter, arrive } = takenGate(100);
    const [sent, settled, leaving] = [arrive(), arrive(), arrive()] as const;
    holder.settle('ok');
    sent.sent(0);
    expect(clock.pendingTimers).toBe(1);
    settled.settle('cancelled');
    expect(clock.pendingTimers).toBe(1);
    waiter.gone = true;
    gate.left(waiter);
    leaving.settle('cancelled');
    expect(clock.pendingTimers).toBe(0);
    clock.advance(1_000);
    expect(sent.refusal).toBeUndefined();
  });

  it('does not bound retries', () => {
    const { clock, gate, ticket, waiter } = takenGate(100);
    const retried = ticket();
    retried.sent(0);
    gate.enter(retried, waiter);
    expect(clock.pendingTimers).toBe(0);
    clock.advance(1_000);
    expect(gate.waiting).toBe(1);
  });

  it('admits requests that the timed-out one had held up', () => {
    const { clock, ticket, byteRateGate } = ruledGates({ waitTimeoutMs: 100 });
    const { gate } = byteRateGate(10);
    const waiter = new Waiter();
    gate.enter(ticket({ bytes: 6 }), waiter);
    gate.enter(ticket({ bytes: 9 }), waiter);
    clock.advance(50);
    gate.enter(ticket({ bytes: 4 }), waiter);
    clock.advance(50);
    expect(waiter.tickets.map((each) => [each.value, isLate(each)])).toEqual([
      [1, true],
      [2, false],
    ]);
    expect(gate.snapshot()).toMatchObject({ waiting: 0, nextInMs: undefined });
  });

  it('may be changed for waiting requests too, and removed', () => {
    const { clock, queues, told, arrive } = takenGate(100);
    arrive();
    queues.timeouts.configure(40);
    expect(clock.nextTimerMs).toBe(40);
    queues.timeouts.configure(Number.POSITIVE_INFINITY);
    expect(clock.pendingTimers).toBe(0);
    queues.timeouts.configure(60);
    clock.advance(70);
    expect(told).toEqual([[1, 60, true]]);
  });

  it('works with a receiver that enters again in its callback', () => {
    const { clock, gate, ticket } = takenGate(100);
    const times: number[] = [];
    const waiter = new Waiter(() => {
      times.push(clock.now());
      if (times.length < 4) gate.enter(ticket(), waiter);
    });
    gate.enter(ticket(), waiter);
    clock.advance(1_000);
    expect(times).toEqual([100, 200, 300, 400]);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    [false, 'first come, first served'],
    [true, 'by priority'],
  ])('costs 40,000 waiters no more than time in proportion (%s: %s)', (isPrioritized) => {
    const { clock, gate, told, arrive, holder } = takenGate(100, isPrioritized);
    for (let n = 0; n < 40_000; n += 1) arrive(isPrioritized ? n % 7 : 0);
    expect(clock.pendingTimers).toBe(1);
    let asked = 0;
    const wait = gate.policy.wait.bind(gate.policy);
    gate.policy.wait = (...args) => {
      asked += 1;
      return wait(...args);
    };
    clock.advance(100);
    expect(told).toHaveLength(40_000);
    expect(asked).toBeLessThanOrEqual(40_000);
    expect(gate.waiting).toBe(0);
    expect(clock.pendingTimers).toBe(0);
    holder.settle('ok');
    expect(gate.snapshot().inFlight).toBe(0);
  });
});

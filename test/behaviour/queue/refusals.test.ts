import { describe, expect, it } from 'vitest';
import type { Ticket } from '../../../src/model/ticket.ts';
import { ruledGates } from '../../support/ruled-gate.ts';
import { slotGate } from '../../support/slot-gate.ts';
import { LateWaiter, Waiter } from '../../support/waiter.ts';

const NO = new Error('no');

describe('a request that was refused', () => {
  it('passes all gates at no cost, even if others wait, and holds nothing', () => {
    const { gate, slots, ticket } = slotGate(1);
    const waiter = new Waiter();
    const refused = ticket();
    refused.refuse(NO);
    expect(gate.enter(refused, waiter)).toBe(true);
    expect(slots.inFlight).toBe(0);
    gate.enter(ticket(), waiter);
    gate.enter(ticket(), waiter);
    expect(gate.enter(refused, waiter)).toBe(true);
    expect(gate.waiting).toBe(1);
    refused.settle('rejected');
    expect(slots.inFlight).toBe(1);
  });

  it('keeps the first reason', () => {
    const { ticket } = slotGate(1);
    const refused = ticket();
    refused.refuse(NO);
    refused.refuse(new Error('another'));
    expect(refused.refusal).toBe(NO);
  });

  it('keeps what earlier gates lent until it is settled', () => {
    const { gate, slots, ticket } = slotGate(1);
    const { byteRateGate, ticket: sized } = ruledGates();
    const rate = byteRateGate(10, 'fail');
    const waiter = new Waiter();
    const request = ticket();
    gate.enter(request, waiter);
    rate.gate.enter(sized({ bytes: 10 }), waiter);
    const refused = sized({ bytes: 1 });
    gate.enter(refused, waiter);
    expect(rate.gate.enter(request, waiter)).toBe(true);
    expect(request.refusal).toBeUndefined();
    expect(slots.inFlight).toBe(1);
    request.settle('rejected');
    expect(slots.inFlight).toBe(1);
  });

  it.each([
    [false, 'first come, first served'],
    [true, 'by priority'],
  ])('by its limit when its turn comes is counted no more (%s: %s)', (isPrioritized) => {
    const { clock, ticket, byteRateGate } = ruledGates({ isPrioritized });
    const { gate, closed, policy } = byteRateGate(10, 'fail');
    const waiter = new Waiter();
    closed.untilMs = 100;
    const requests = [6, 6, 4].map((bytes) => ticket({ bytes }));
    for (const request of requests) expect(gate.enter(request, waiter)).toBe(false);
    expect(gate.waiting).toBe(3);
    clock.advance(100);
    expect(waiter.tickets).toEqual(requests);
    const [fits, refused, next] = requests;
    expect(refused?.refusal).toMatchObject({ limit: 'bytes', cost: 6, available: 4 });
    expect([fits?.refusal, next?.refusal]).toEqual([undefined, undefined]);
    expect(gate.snapshot()).toMatchObject({ waiting: 0, nextInMs: undefined });
    expect(policy.snapshot(100).bytes?.used).toBe(10);
    expect(clock.pendingTimers).toBe(0);
  });

  it('as an urgent newcomer is counted no more, and the head waits on', () => {
    const { clock, ticket, byteRateGate } = ruledGates({ isPrioritized: true });
    const { gate, closed } = byteRateGate(10, 'fail');
    const waiter = new Waiter();
    gate.enter(ticket({ bytes: 8 }), waiter);
    closed.untilMs = 100;
    gate.enter(ticket({ bytes: 1 }), waiter);
    const urgent = ticket({ bytes: 5, priority: 1 });
    expect(gate.enter(urgent, waiter)).toBe(false);
    expect(waiter.tickets).toEqual([urgent]);
    expect(urgent.refusal).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
    expect(gate.snapshot()).toMatchObject({ waiting: 1, nextInMs: 100 });
    clock.advance(100);
    expect(waiter.order).toEqual([2, 1]);
    expect(gate.waiting).toBe(0);
  });
});

describe('an attempt to enter without waiting', () => {
  it('takes what is free, and nothing if it would have to wait', () => {
    const { gate, slots, ticket, clock } = slotGate(1);
    const [first, second] = [ticket(), ticket()];
    expect(gate.tryEnter(first)).toBe(true);
    expect(gate.tryEnter(second)).toBe(false);
    expect(slots.inFlight).toBe(1);
    expect(gate.waiting).toBe(0);
    first.settle('ok');
    expect(slots.inFlight).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('overtakes nobody, however urgent it is', () => {
    const { ticket, byteRateGate } = ruledGates({ isPrioritized: true });
    const { gate } = byteRateGate(10);
    gate.enter(ticket({ bytes: 5 }), new Waiter());
    gate.enter(ticket({ bytes: 9 }), new Waiter());
    expect(gate.tryEnter(ticket({ bytes: 1, priority: 9 }))).toBe(false);
  });

  it('returns the reason if it can never pass', () => {
    const { ticket, byteRateGate } = ruledGates();
    const tooLarge = ticket({ bytes: 11 });
    expect(byteRateGate(10).gate.tryEnter(tooLarge)).toBe(false);
    expect(tooLarge.refusal).toMatchObject({ code: 'COST_ABOVE_LIMIT' });
  });
});

describe('an admission check', () => {
  function guarded() {
    const state: { error: Error | undefined } = { error: undefined };
    const around = ruledGates({ check: { turnsAway: () => state.error } });
    return { ...around, state, gate: around.slotGate(1) };
  }

  it('refuses newcomers before they wait, and no waiting request', () => {
    const { gate, ticket, state } = guarded();
    const waiter = new Waiter();
    const holder = ticket();
    gate.enter(holder, waiter);
    const waiting = ticket();
    gate.enter(waiting, waiter);
    state.error = NO;
    const newcomers: Ticket[] = [ticket(), ticket()];
    expect(gate.enter(newcomers[0] as Ticket, waiter)).toBe(true);
    expect(gate.tryEnter(newcomers[1] as Ticket)).toBe(false);
    expect(newcomers.map(({ refusal }) => refusal)).toEqual([NO, NO]);
    holder.settle('ok');
    expect(waiter.tickets).toEqual([waiting]);
    expect(waiting.refusal).toBeUndefined();
    expect(gate.snapshot()).toMatchObject({ waiting: 0, inFlight: 1 });
  });

  it('admits retries', () => {
    const { gate, ticket, state } = guarded();
    state.error = NO;
    const retried = ticket();
    retried.sent(0);
    expect(gate.enter(retried, new Waiter())).toBe(true);
    expect(retried.refusal).toBeUndefined();
    expect(gate.snapshot().inFlight).toBe(1);
  });

  it('refuses a request without a ticket, which then gets one', () => {
    const { gate, ticket, state } = guarded();
    const late = new LateWaiter(() => ticket());
    state.error = NO;
    expect(gate.enterLater('item', late)?.refusal).toBe(NO);
    state.error = undefined;
    expect(gate.enterLater('item', late)?.refusal).toBeUndefined();
  });
});

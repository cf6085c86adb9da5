import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TicketExpiredError, TicketInUseError } from '../../src/model/errors.ts';
import type { SettleOutcome } from '../../src/model/outcome.ts';
import type { LeaseIssuer } from '../../src/model/ticket.ts';
import { Ticket } from '../../src/model/ticket.ts';
import { ManualClock } from '../../src/simulator/manual-clock.ts';
import { originOf, ticketMaker } from '../support/waiter.ts';

const newTicket = () => ticketMaker(new ManualClock())(10);

/** Lenders that write down what they get back. */
function lenders(count: number): { all: LeaseIssuer[]; back: [at: number, charge: number][] } {
  const back: [number, number][] = [];
  const all = Array.from({ length: count }, (_, at) => ({
    giveBack: (charge: number) => back.push([at, charge]),
  }));
  return { all, back };
}

describe('settle', () => {
  it('gives back all charges once, the last lease first', () => {
    const ticket = newTicket();
    const { all, back } = lenders(3);
    all.forEach((lender, at) => {
      ticket.lend(lender, (at + 1) * 100);
    });
    expect(ticket.settle('ok')).toBe(true);
    expect(back).toEqual([
      [2, 300],
      [1, 200],
      [0, 100],
    ]);
    expect(ticket.settle('failed')).toBe(false);
    expect(back).toHaveLength(3);
    expect(ticket.outcome).toBe('ok');
  });

  it('may be called again by a lender during the return', () => {
    const ticket = newTicket();
    const { all, back } = lenders(2);
    const again: boolean[] = [];
    ticket.lend(all[0] as LeaseIssuer, 1);
    ticket.lend({ giveBack: () => again.push(ticket.settle('cancelled')) }, 1);
    ticket.lend(all[1] as LeaseIssuer, 1);
    ticket.settle('ok');
    expect(again).toEqual([false]);
    expect(back.map(([at]) => at)).toEqual([1, 0]);
  });

  it('calls the instrumentation once, after all is given back', () => {
    const facts: unknown[] = [];
    const instrumentation = { settled: (_: Ticket, outcome: SettleOutcome) => facts.push(outcome) };
    const ticket = ticketMaker(new ManualClock(), instrumentation)();
    ticket.lend({ giveBack: () => facts.push('back') }, 1);
    ticket.settle('failed');
    ticket.settle('ok');
    expect(facts).toEqual(['back', 'failed']);
  });

  it('stops the timer of its transit', () => {
    const clock = new ManualClock();
    const ticket = ticketMaker(clock)();
    ticket.transit = clock.setTimer(() => {}, 100);
    ticket.settle('ok');
    expect(clock.pendingTimers).toBe(0);
    expect(ticket.transit).toBeUndefined();
  });
});

describe('returnTo', () => {
  it.each([0, 1, 2])(
    'gives back one lease of three, from place %i, and settle the rest',
    (place) => {
      const ticket = newTicket();
      const { all, back } = lenders(3);
      all.forEach((lender, at) => {
        ticket.lend(lender, at + 10);
      });
      ticket.returnTo(all[place] as LeaseIssuer);
      expect(back).toEqual([[place, place + 10]]);
      ticket.returnTo(all[place] as LeaseIssuer);
      expect(back).toHaveLength(1);
      ticket.settle('ok');
      expect(back.slice(1).map(([at]) => at)).toEqual([2, 1, 0].filter((at) => at !== place));
    },
  );

  it('does nothing for a lender without a lease, nor after settle', () => {
    const ticket = newTicket();
    const { all, back } = lenders(2);
    ticket.lend(all[0] as LeaseIssuer, 1);
    ticket.returnTo(all[1] as LeaseIssuer);
    expect(back).toEqual([]);
    ticket.settle('ok');
    ticket.returnTo(all[0] as LeaseIssuer);
    expect(back).toEqual([[0, 1]]);
  });

  it('gives back one lease at a time, the last first', () => {
    const ticket = newTicket();
    const { all, back } = lenders(1);
    ticket.lend(all[0] as LeaseIssuer, 1);
    ticket.lend(all[0] as LeaseIssuer, 2);
    ticket.returnTo(all[0] as LeaseIssuer);
    expect(back).toEqual([[0, 2]]);
  });

  it('with lend and settle gives back exactly what was lent, in every script', () => {
    const step = fc.tuple(fc.constantFrom('lend', 'lend', 'return'), fc.nat(4), fc.nat(1_000));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const ticket = newTicket();
        const { all, back } = lenders(5);
        const held: [number, number][] = [];
        const expected: [number, number][] = [];
        for (const [what, at, charge] of steps) {
          if (what === 'lend') {
            ticket.lend(all[at] as LeaseIssuer, charge);
            held.push([at, charge]);
          } else {
            ticket.returnTo(all[at] as LeaseIssuer);
            const place = held.findLastIndex(([lender]) => lender === at);
            if (place >= 0) expected.push(...held.splice(place, 1));
          }
        }
        ticket.settle('ok');
        expect(back).toEqual([...expected, ...held.reverse()]);
      }),
    );
  });
});

describe('take and release', () => {
  it('let one holder have the ticket at a time', () => {
    const ticket = newTicket();
    expect(ticket.isAdrift).toBe(true);
    ticket.take({});
    expect(ticket.isAdrift).toBe(false);
    expect(() => ticket.take({})).toThrow(TicketInUseError);
    ticket.release();
    expect(ticket.isAdrift).toBe(true);
    ticket.take({});
  });

  it.each(['ok', 'failed', 'rejected', 'cancelled', 'reclaimed'] as const)(
    'refuse a ticket that has ended: %s',
    (outcome) => {
      const ticket = newTicket();
      ticket.settle(outcome);
      const take = () => ticket.take({});
      expect(take).toThrow(TicketExpiredError);
      expect(take).toThrow(
        outcome === 'reclaimed' ? 'came too late' : `ended already (${outcome})`,
      );
      expect(ticket.isAdrift).toBe(false);
    },
  );

  it('end the transit, but not when the ticket may not be taken', () => {
    const clock = new ManualClock();
    const ticket = ticketMaker(clock)();
    ticket.transit = clock.setTimer(() => {}, 100);
    ticket.take({});
    expect(clock.pendingTimers).toBe(0);
    expect(ticket.transit).toBeUndefined();
  });

  it('throw errors with a code and a name', () => {
    expect(new TicketInUseError()).toMatchObject({
      code: 'TICKET_IN_USE',
      name: 'TicketInUseError',
    });
    expect(new TicketExpiredError('ok')).toMatchObject({ code: 'TICKET_EXPIRED', outcome: 'ok' });
  });
});

describe('stats', () => {
  it('sum the waits by gate', () => {
    const clock = new ManualClock(100);
    const ticket = ticketMaker(clock)(40);
    ticket.waited('concurrency', 5, 1);
    ticket.waited('backoff', 10, 2);
    ticket.waited('retry', 3, 1);
    ticket.waited('backoff', 100, 3);
    ticket.attempts = 2;
    clock.advance(500);
    expect(ticket.stats()).toEqual({
      waits: {
        concurrency: { waitMs: 5, rounds: 1 },
        backoff: { waitMs: 110, rounds: 5 },
        retry: { waitMs: 3, rounds: 1 },
      },
      attempts: 2,
      bytes: 40,
      tokens: 10,
      durationMs: 500,
    });
  });

  it('estimate the tokens when they are first asked for, once', () => {
    let estimates = 0;
    const origin = { ...originOf(), tokensOf: () => ++estimates };
    const estimated = new Ticket(origin, 'x', 8, undefined, 0, 0);
    expect(estimates).toBe(0);
    expect([estimated.tokens, estimated.tokens]).toEqual([1, 1]);
    expect(new Ticket(origin, 'x', 8, 77, 0, 0).tokens).toBe(77);
    expect(new Ticket(origin, 'x', 8, 0, 0, 0).tokens).toBe(0);
    expect(estimates).toBe(1);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Backoff } from '../../src/policies/backoff.ts';
import { holds } from '../support/holds.ts';
import { runs } from '../support/runs.ts';
import { demand } from '../support/waiter.ts';

const NOW = 1_000;

describe('Backoff', () => {
  it('is open, in normal mode, before anything was rejected', () => {
    const backoff = new Backoff('probe', 10_000);
    expect(backoff.wait(demand(), NOW)).toBe(0);
    expect(backoff.take(demand(), NOW)).toBe(0);
    expect(backoff.snapshot(NOW)).toEqual({
      state: 'open',
      closedForMs: 0,
      mode: 'normal',
      epoch: 0,
    });
  });

  it.each(['probe', 'all'] as const)('reopening with %s is closed until its end', (reopen) => {
    const backoff = new Backoff(reopen, 10_000);
    backoff.reject(1_000, 0, NOW);
    expect(backoff.wait(demand(), NOW)).toBe(1_000);
    expect(backoff.wait(demand(), NOW + 999.5)).toBe(0.5);
    expect(backoff.wait(demand(), NOW + 1_000)).toBe(0);
    expect(backoff.snapshot(NOW + 400)).toMatchObject({ state: 'closed', closedForMs: 600 });
  });

  it('throttles until 10 s after its end, and counts a future end too', () => {
    const backoff = new Backoff('all', 10_000);
    backoff.reject(5_000, 0, NOW);
    expect(backoff.throttledUntil).toBe(NOW + 15_000);
    expect(backoff.snapshot(NOW).mode).toBe('throttled');
    expect(backoff.snapshot(NOW + 14_999).mode).toBe('throttled');
    expect(backoff.snapshot(NOW + 15_000).mode).toBe('normal');
  });

  it('throttles as long as before if it is asked to slow down meanwhile', () => {
    const backoff = new Backoff('all', 10_000);
    backoff.reject(5_000, 0, NOW);
    backoff.throttle(NOW);
    expect(backoff.throttledUntil).toBe(NOW + 15_000);
    backoff.throttle(NOW + 6_000);
    expect(backoff.throttledUntil).toBe(NOW + 16_000);
  });

  it('is extended by a longer wait, and never shortened by a shorter one', () => {
    const backoff = new Backoff('all', 10_000);
    backoff.reject(5_000, 0, NOW);
    backoff.reject(1_000, 1, NOW + 10);
    expect(backoff.until).toBe(NOW + 5_000);
    expect(backoff.throttledUntil).toBe(NOW + 15_000);
    backoff.reject(6_000, 2, NOW + 20);
    expect(backoff.until).toBe(NOW + 6_020);
  });

  it('counts a burst of one epoch once, and takes its longest wait', () => {
    const backoff = new Backoff('probe', 10_000);
    const waits = [1_000, 5_000, 2_000];
    const counted = waits.map((waitMs) => backoff.reject(waitMs, 0, NOW));
    expect(counted).toEqual([true, false, false]);
    expect(backoff.epoch).toBe(1);
    expect(backoff.until).toBe(NOW + 5_000);
    expect(backoff.reject(1_000, 1, NOW + 5_000)).toBe(true);
    expect(backoff.epoch).toBe(2);
  });

  it.each(['probe', 'all'] as const)(
    'reopening with %s is never cleared by a success',
    (reopen) => {
      const backoff = new Backoff(reopen, 10_000);
      backoff.reject(1_000, 0, NOW);
      backoff.accept(1, NOW);
      backoff.accept(99, NOW + 1);
      expect(backoff.wait(demand(), NOW + 1)).toBe(999);
      expect(backoff.throttledUntil).toBe(NOW + 11_000);
    },
  );

  it('only moves its end and its epoch up, whatever comes', () => {
    const step = fc.record({
      what: fc.constantFrom('reject', 'accept', 'take', 'giveBack'),
      number: fc.nat(3_000),
      epochsAgo: fc.integer({ min: -1, max: 3 }),
      reopen: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), fc.boolean(), (steps, all) => {
        const backoff = new Backoff(all ? 'all' : 'probe', 10_000);
        const charges: number[] = [];
        let now = 0;
        for (const { what, number, epochsAgo } of steps) {
          const { until, throttledUntil, epoch } = backoff;
          now += number / 10;
          const of = epoch - epochsAgo;
          if (what === 'reject') {
            holds(backoff.reject(number, of, now) === of >= epoch, of, epoch);
            holds(backoff.until === Math.max(until, now + number), backoff.until, until, now);
          }
          if (what === 'accept') backoff.accept(of, now);
          if (what === 'take' && backoff.wait(demand(), now) === 0) {
            charges.push(backoff.take(demand(), now));
          }
          if (what === 'giveBack') {
            const charge = charges.pop();
            if (charge) backoff.giveBack(charge);
          }
          holds(backoff.until >= until, backoff.until, until);
          holds(backoff.throttledUntil >= throttledUntil, backoff.throttledUntil, throttledUntil);
          holds(backoff.epoch >= epoch, backoff.epoch, epoch);
          // Never shut for good: once all have ended the gate lets somebody pass.
          if (charges.length === 0)
            holds(backoff.wait(demand(), backoff.until) === 0, backoff.until);
        }
      }),
      { numRuns: runs(200) },
    );
  });
});

describe('a wait that has closed the gate and proves wrong', () => {
  const sender = {};

  it('ends when its sender has found out, and throttled mode with it', () => {
    const backoff = new Backoff('all', 10_000);
    backoff.reject(60_000, 0, NOW, sender);
    backoff.correct(sender, NOW + 6_000);
    expect(backoff.wait(demand(), NOW)).toBe(6_000);
    expect(backoff.throttledUntil).toBe(NOW + 16_000);
  });

  it('is not made longer, nor corrected by another sender or after another wait', () => {
    const backoff = new Backoff('all', 0);
    backoff.reject(60_000, 0, NOW, sender);
    backoff.correct(sender, NOW + 70_000);
    backoff.correct({}, NOW);
    expect(backoff.until).toBe(NOW + 60_000);
    backoff.reject(90_000, 0, NOW);
    backoff.correct(sender, NOW);
    expect(backoff.until).toBe(NOW + 90_000);
  });

  it('leaves what was closed before it', () => {
    const backoff = new Backoff('all', 0);
    backoff.reject(5_000, 0, NOW);
    backoff.reject(60_000, 0, NOW, sender);
    backoff.reject(70_000, 0, NOW, sender);
    backoff.correct(sender, Number.NEGATIVE_INFINITY);
    expect(backoff.until).toBe(NOW + 5_000);
  });

  it.each([5_000, 60_000])('leaves a wait of %i ms that another sender was told', (waitMs) => {
    const backoff = new Backoff('all', 10_000);
    backoff.reject(60_000, 0, NOW, sender);
    backoff.reject(waitMs, 0, NOW, {});
    backoff.reject(1_000, 0, NOW);
    backoff.correct(sender, NOW);
    expect([backoff.until, backoff.throttledUntil]).toEqual([NOW + waitMs, NOW + waitMs + 10_000]);
  });

  it('is no wait that all requests were told of', () => {
    const backoff = new Backoff('all', 0);
    backoff.reject(60_000, 0, NOW, sender);
    backoff.suspend('longWait', 'wait');
    backoff.correct(sender, NOW);
    expect(backoff.suspended(NOW)?.leftMs).toBe(60_000);
    expect(backoff.until).toBe(NOW + 60_000);
  });
});

describe('an outage', () => {
  const OUTAGE_MS = 60_000;

  function out(): Backoff {
    const backoff = new Backoff('probe', 10_000, OUTAGE_MS);
    backoff.reject(100, 0, NOW);
    // The probe of the backoff gets no answer.
    backoff.take(demand(), NOW + 100);
    const began = [1, 2, 3].map(() => backoff.unreachable(true, NOW + 200));
    expect(began).toEqual([false, false, true]);
    return backoff;
  }

  it('waits for no probe that was sent before it began', () => {
    const backoff = out();
    expect(backoff.wait(demand(), NOW + 200)).toBe(500);
    expect(backoff.wait(demand(), NOW + 700)).toBe(0);
  });

  it('is one epoch, however many connections are refused', () => {
    const backoff = out();
    expect(backoff.epoch).toBe(2);
    backoff.unreachable(true, NOW + 800);
    expect(backoff.epoch).toBe(2);
    expect([backoff.reached(1), backoff.reached(2), backoff.hasOutage]).toEqual([
      false,
      true,
      false,
    ]);
  });

  it('is one epoch, however many connections are reset, and any answer ends it', () => {
    const backoff = new Backoff('probe', 10_000, OUTAGE_MS);
    for (let n = 0; n < 5; n += 1) backoff.unreachable(false, NOW + n);
    expect(backoff.epoch).toBe(1);
    expect([backoff.reached(0), backoff.hasOutage]).toEqual([true, false]);
  });

  it('bounds no wait of a backoff that comes after it', () => {
    const backoff = out();
    backoff.reached(backoff.epoch);
    const later = NOW + 10 * OUTAGE_MS;
    backoff.reject(2 * OUTAGE_MS, backoff.epoch, later);
    expect(backoff.wait(demand(), later)).toBe(2 * OUTAGE_MS);
  });

  it('fails what waits at its end, and knows the attempts that were sent before', () => {
    const backoff = out();
    let ends = 0;
    backoff.onOutageOver = () => {
      ends += 1;
    };
    const endsAt = NOW + 200 + OUTAGE_MS;
    backoff.take(demand(), endsAt - 1_000);
    const { epoch } = backoff;
    expect(backoff.wait(demand(), endsAt - 1)).toBe(1);
    expect([backoff.wait(demand(), endsAt), ends]).toEqual([Number.POSITIVE_INFINITY, 1]);
    expect([backoff.isFromBefore(epoch), backoff.isFromBefore(backoff.epoch)]).toEqual([
      true,
      false,
    ]);
    // Its silent probe does not hold those that arrive later.
    expect(backoff.wait(demand(), endsAt)).toBe(0);
  });
});

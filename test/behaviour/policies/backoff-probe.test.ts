import { describe, expect, it } from 'vitest';
import { Backoff } from '../../../src/policies/backoff.ts';
import { demand } from '../../support/waiter.ts';

const INFINITY = Number.POSITIVE_INFINITY;

/** A backoff that has just ended. */
function reopening(): Backoff {
  const backoff = new Backoff('probe', 10_000);
  backoff.reject(1_000, 0, 0);
  return backoff;
}

const mayPass = (backoff: Backoff, now: number) => backoff.wait(demand(), now) === 0;

describe('a backoff that reopens with a probe', () => {
  it('admits one request, and all others when it has succeeded', () => {
    const backoff = reopening();
    expect(backoff.snapshot(1_000).state).toBe('probing');
    const probe = backoff.take(demand(), 1_000);
    expect(probe).not.toBe(0);
    expect(backoff.wait(demand(), 1_000)).toBe(INFINITY);
    expect(backoff.accept(1, 1_000)).toBe(true);
    expect(backoff.snapshot(1_000).state).toBe('open');
    expect(mayPass(backoff, 1_000)).toBe(true);
    expect(backoff.take(demand(), 1_000)).toBe(0);
    expect(backoff.accept(1, 1_000)).toBe(false);
    backoff.giveBack(probe);
    expect(mayPass(backoff, 1_000)).toBe(true);
  });

  it('is not opened by the answer to a request that was sent before the rejection', () => {
    const backoff = reopening();
    backoff.take(demand(), 1_000);
    expect(backoff.accept(0, 1_000)).toBe(false);
    expect(mayPass(backoff, 1_000)).toBe(false);
  });

  it('gives the place of a probe that ended without an answer to the next, one at a time', () => {
    const backoff = reopening();
    for (let n = 0; n < 5; n += 1) {
      expect(mayPass(backoff, 2_000)).toBe(true);
      const probe = backoff.take(demand(), 2_000);
      expect(mayPass(backoff, 2_000)).toBe(false);
      backoff.giveBack(probe);
    }
    expect(backoff.snapshot(2_000).state).toBe('probing');
  });

  it('closes again when the probe is rejected, and tests with one again', () => {
    const backoff = reopening();
    const probe = backoff.take(demand(), 1_000);
    backoff.reject(1_000, 1, 1_100);
    backoff.giveBack(probe);
    expect(backoff.wait(demand(), 1_100)).toBe(1_000);
    expect(mayPass(backoff, 2_100)).toBe(true);
    backoff.take(demand(), 2_100);
    expect(mayPass(backoff, 2_100)).toBe(false);
  });

  it('stays closed for as long as late news of the same event says, with the probe out', () => {
    const backoff = reopening();
    backoff.take(demand(), 1_000);
    backoff.reject(3_000, 0, 1_500);
    expect(backoff.epoch).toBe(1);
    expect(backoff.wait(demand(), 1_500)).toBe(3_000);
    expect(mayPass(backoff, 4_500)).toBe(false);
    expect(backoff.accept(1, 4_500)).toBe(true);
    expect(mayPass(backoff, 4_500)).toBe(true);
  });

  it('is not opened, once closed again, by what was sent before', () => {
    const backoff = reopening();
    backoff.take(demand(), 1_000);
    backoff.reject(1_000, 0, 1_015);
    expect(backoff.accept(1, 1_020)).toBe(false);
    expect(backoff.snapshot(2_020).state).toBe('probing');
  });

  it('does not wait for a probe that opened it once, and takes long to end', () => {
    const backoff = reopening();
    const streaming = backoff.take(demand(), 1_000);
    backoff.accept(1, 1_000);
    expect(backoff.take(demand(), 1_000)).toBe(0);
    backoff.reject(1_000, 1, 2_000);
    expect(mayPass(backoff, 3_000)).toBe(true);
    const second = backoff.take(demand(), 3_000);
    expect(second).not.toBe(0);
    expect(mayPass(backoff, 3_000)).toBe(false);
    // The first one ends at last: that frees no place, for it had none any more.
    backoff.giveBack(streaming);
    expect(mayPass(backoff, 3_000)).toBe(false);
    backoff.giveBack(second);
    expect(mayPass(backoff, 3_000)).toBe(true);
  });

  it('does not wait for a probe of an epoch that is over', () => {
    const backoff = reopening();
    const slow = backoff.take(demand(), 1_000);
    // Somebody else who uses the same key was rejected after the probe had been sent.
    backoff.reject(1_000, 1, 1_500);
    expect(mayPass(backoff, 2_500)).toBe(true);
    backoff.take(demand(), 2_500);
    backoff.giveBack(slow);
    expect(mayPass(backoff, 2_500)).toBe(false);
  });
});

describe('a backoff that reopens for all', () => {
  it('admits all requests at its end', () => {
    const backoff = new Backoff('all', 10_000);
    backoff.reject(1_000, 0, 0);
    expect(backoff.snapshot(1_000).state).toBe('open');
    for (let n = 0; n < 5; n += 1) {
      expect(mayPass(backoff, 1_000)).toBe(true);
      expect(backoff.take(demand(), 1_000)).toBe(0);
    }
  });
});

describe('an outage', () => {
  it('lets another probe go where one has no answer for 10 s, then for 20 s, then for 40 s', () => {
    const backoff = new Backoff('probe', 10_000);
    for (let n = 0; n < 3; n += 1) backoff.unreachable(false, 500);
    const silent: number[] = [];
    for (const at of [1_000, 11_000, 31_000, 71_000]) {
      expect(mayPass(backoff, at - 1)).toBe(false);
      expect(mayPass(backoff, at)).toBe(true);
      silent.push(backoff.take(demand(), at));
    }
    expect(backoff.wait(demand(), 71_000)).toBe(80_000);
    // Those before hold no place any more; the last one does.
    for (const probe of silent.slice(0, 3)) backoff.giveBack(probe);
    expect(mayPass(backoff, 72_000)).toBe(false);
    backoff.giveBack(silent[3] ?? 0);
    expect(backoff.take(demand(), 72_000)).not.toBe(0);
    expect(backoff.wait(demand(), 72_000)).toBe(10_000);
    // Any of them ends it.
    expect(backoff.reached(0)).toBe(true);
    expect(mayPass(backoff, 73_000)).toBe(true);
  });
});

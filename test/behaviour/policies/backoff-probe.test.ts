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
  it('lets one request through, and all when that has gone well', () => {
    const backoff = reopening();
    expect(backoff.snapshot(1_000).state).toBe('probing');
    const probe = backoff.take();
    expect(probe).not.toBe(0);
    expect(backoff.wait(demand(), 1_000)).toBe(INFINITY);
    expect(backoff.accept(1, 1_000)).toBe(true);
    expect(backoff.snapshot(1_000).state).toBe('open');
    expect(mayPass(backoff, 1_000)).toBe(true);
    expect(backoff.take()).toBe(0);
    expect(backoff.accept(1, 1_000)).toBe(false);
    backoff.giveBack(probe);
    expect(mayPass(backoff, 1_000)).toBe(true);
  });

  it('is not opened by the answer to a request that was sent before the rejection', () => {
    const backoff = reopening();
    backoff.take();
    expect(backoff.accept(0, 1_000)).toBe(false);
    expect(mayPass(backoff, 1_000)).toBe(false);
  });

  it('gives the place of a probe that ended without an answer to the next, one at a time', () => {
    const backoff = reopening();
    for (let n = 0; n < 5; n += 1) {
      expect(mayPass(backoff, 2_000)).toBe(true);
      const probe = backoff.take();
      expect(mayPass(backoff, 2_000)).toBe(false);
      backoff.giveBack(probe);
    }
    expect(backoff.snapshot(2_000).state).toBe('probing');
  });

  it('closes again when the probe is rejected, and tests with one again', () => {
    const backoff = reopening();
    const probe = backoff.take();
    backoff.reject(1_000, 1, 1_100);
    backoff.giveBack(probe);
    expect(backoff.wait(demand(), 1_100)).toBe(1_000);
    expect(mayPass(backoff, 2_100)).toBe(true);
    backoff.take();
    expect(mayPass(backoff, 2_100)).toBe(false);
  });

  it('stays closed for as long as late news of the same event says, with the probe out', () => {
    const backoff = reopening();
    backoff.take();
    backoff.reject(3_000, 0, 1_500);
    expect(backoff.epoch).toBe(1);
    expect(backoff.wait(demand(), 1_500)).toBe(3_000);
    expect(mayPass(backoff, 4_500)).toBe(false);
    expect(backoff.accept(1, 4_500)).toBe(true);
    expect(mayPass(backoff, 4_500)).toBe(true);
  });

  it('is not opened, once closed again, by what was sent before', () => {
    const backoff = reopening();
    backoff.take();
    backoff.reject(1_000, 0, 1_015);
    expect(backoff.accept(1, 1_020)).toBe(false);
    expect(backoff.snapshot(2_020).state).toBe('probing');
  });

  it('does not wait for a probe that opened it once, and takes long to end', () => {
    const backoff = reopening();
    const streaming = backoff.take();
    backoff.accept(1, 1_000);
    expect(backoff.take()).toBe(0);
    backoff.reject(1_000, 1, 2_000);
    expect(mayPass(backoff, 3_000)).toBe(true);
    const second = backoff.take();
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
    const slow = backoff.take();
    // Somebody else who uses the same key was rejected after the probe had been sent.
    backoff.reject(1_000, 1, 1_500);
    expect(mayPass(backoff, 2_500)).toBe(true);
    backoff.take();
    backoff.giveBack(slow);
    expect(mayPass(backoff, 2_500)).toBe(false);
  });
});

describe('a backoff that reopens for all', () => {
  it('lets everyone through at its end', () => {
    const backoff = new Backoff('all', 10_000);
    backoff.reject(1_000, 0, 0);
    expect(backoff.snapshot(1_000).state).toBe('open');
    for (let n = 0; n < 5; n += 1) {
      expect(mayPass(backoff, 1_000)).toBe(true);
      expect(backoff.take()).toBe(0);
    }
  });
});

import { describe, expect, it } from 'vitest';
import type { LimitRule } from '../../../src/policies/rate-limit/rate-limit.ts';
import { Reopening } from '../../../src/policies/rate-limit/reopening.ts';

const WINDOW = 10_000;
const rule = (algorithm: LimitRule['algorithm'], windowMs = WINDOW): LimitRule => ({
  name: 'requests',
  limit: 10,
  windowMs,
  algorithm,
  maxCost: 10,
  charge: 'upfront',
  initial: 10,
});
const hasRoom = () => false;
const isFull = () => true;

/** A window of 10 s is used up, and ends at 10,000. */
function closed(algorithm: LimitRule['algorithm'] = 'fixed-window') {
  const reopening = new Reopening();
  const opensAt = reopening.closed(rule(algorithm), WINDOW);
  return { reopening, opensAt };
}

describe('the first end of a configured window', () => {
  it.each(['fixed-window', 'sliding-window'] as const)(
    'is tested by one request at its exact time: %s',
    (algorithm) => {
      const { reopening, opensAt } = closed(algorithm);
      expect(opensAt).toBe(WINDOW);
      expect(reopening.wait(WINDOW)).toBe(0);
      expect(reopening.isTest(WINDOW)).toBe(true);
      reopening.sent({}, hasRoom, WINDOW);
      expect(reopening.isTest(WINDOW)).toBe(false);
      expect(reopening.wait(WINDOW)).toBe(500);
    },
  );

  it('is not tested if the limit is a token bucket, or a quota that never ends', () => {
    for (const untested of [rule('token-bucket'), rule('fixed-window', Number.POSITIVE_INFINITY)]) {
      const reopening = new Reopening();
      expect(reopening.closed(untested, WINDOW)).toBe(WINDOW);
      reopening.sent({}, hasRoom, WINDOW);
      expect(reopening.wait(WINDOW)).toBe(0);
    }
  });

  it('holds the others until the test is accepted', () => {
    const { reopening } = closed();
    const test = {};
    reopening.sent(test, hasRoom, WINDOW);
    reopening.ended({}, false, () => WINDOW + 10);
    expect(reopening.wait(WINDOW + 20)).toBe(480);
    reopening.ended(test, false, () => WINDOW + 30);
    expect(reopening.wait(WINDOW + 30)).toBe(0);
  });

  it('holds the others for a second at most, whatever the window', () => {
    const reopening = new Reopening();
    reopening.closed(rule('fixed-window', 60_000), 60_000);
    reopening.sent({}, hasRoom, 60_000);
    expect(reopening.wait(60_000)).toBe(1_000);
    expect(reopening.wait(61_000)).toBe(0);
  });

  it('holds nothing if the limit admits one request after the other', () => {
    const { reopening } = closed('sliding-window');
    reopening.sent({}, isFull, WINDOW);
    expect(reopening.wait(WINDOW)).toBe(0);
    reopening.closed(rule('sliding-window'), WINDOW + 1_000);
    expect(reopening.isTest(WINDOW + 1_000)).toBe(false);
  });

  it('is not tested by a request that goes before it, as charges were given back', () => {
    const { reopening } = closed();
    reopening.sent({}, hasRoom, 4_000);
    expect(reopening.wait(4_000)).toBe(0);
    reopening.closed(rule('fixed-window'), WINDOW);
    expect(reopening.isTest(WINDOW)).toBe(true);
  });

  it('is tested again, later and later, at most three times', () => {
    const { reopening } = closed();
    let now = WINDOW;
    const gaps: number[] = [];
    for (let test = 0; test < 3; test += 1) {
      const charge = {};
      expect(reopening.isTest(now)).toBe(true);
      reopening.sent(charge, hasRoom, now);
      reopening.ended(charge, true, () => now);
      gaps.push(reopening.wait(now));
      now += reopening.wait(now);
    }
    expect(gaps).toEqual([100, 200, 0]);
    expect(reopening.isTest(now)).toBe(false);
  });
});

describe('the end of the window that a test began', () => {
  function tested(answerMs: number) {
    const { reopening } = closed();
    const test = {};
    reopening.sent(test, hasRoom, WINDOW);
    reopening.ended(test, false, () => WINDOW + answerMs);
    return reopening;
  }

  it('is expected as much later as the answer of the test took, once', () => {
    const reopening = tested(30);
    expect(reopening.closed(rule('fixed-window'), 2 * WINDOW)).toBe(2 * WINDOW + 30);
    expect(reopening.wait(2 * WINDOW)).toBe(30);
    expect(reopening.wait(2 * WINDOW + 30)).toBe(0);
    reopening.sent({}, hasRoom, 2 * WINDOW + 30);
    expect(reopening.closed(rule('fixed-window'), 3 * WINDOW)).toBe(3 * WINDOW);
    expect(reopening.wait(3 * WINDOW)).toBe(0);
  });

  it('is expected at most 100 ms or 2 % of the window later', () => {
    expect(tested(5_000).closed(rule('fixed-window'), 2 * WINDOW)).toBe(2 * WINDOW + 100);
    const short = rule('fixed-window', 1_000);
    const reopening = new Reopening();
    reopening.closed(short, 1_000);
    reopening.sent({}, hasRoom, 1_000);
    reopening.sent({}, hasRoom, 1_050);
    expect(reopening.closed(short, 2_000)).toBe(2_020);
  });

  it('is expected later by the time between the first test and the accepted one, too', () => {
    const { reopening } = closed();
    const rejected = {};
    reopening.sent(rejected, hasRoom, WINDOW);
    reopening.ended(rejected, true, () => WINDOW + 10);
    const accepted = {};
    reopening.sent(accepted, hasRoom, WINDOW + 110);
    reopening.ended(accepted, false, () => WINDOW + 130);
    expect(reopening.closed(rule('fixed-window'), 2 * WINDOW)).toBe(2 * WINDOW + 130);
  });

  it('does not delay requests that go before it, as charges were given back', () => {
    const reopening = tested(30);
    reopening.closed(rule('fixed-window'), 2 * WINDOW);
    expect(reopening.wait(2 * WINDOW - 1)).toBe(0);
  });
});

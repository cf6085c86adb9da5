import { describe, expect, it } from 'vitest';
import { SavedBurst } from '../../../../src/policies/adaptive-rate/measured/saved-burst.ts';
import { attemptAt } from '../attempts.ts';

/** One request a second. */
const PER_MS = 1e-3;

/** A burst, and what is sent after times without demand. */
function saving(accepted: number, known?: number) {
  const burst = new SavedBurst();
  burst.begin(accepted, known);
  let now = 0;
  const settle = (at: number, outcome: 'accepted' | 'rejected', idleMs = 0) => {
    const sent = attemptAt(at, { idleMs });
    sent.outcome = outcome;
    burst.settled(sent, PER_MS);
  };
  return {
    burst,
    /** After a long time without demand, so many are accepted at once. */
    accept: (count: number) => {
      now += 1_000_000;
      for (let n = 0; n < count; n += 1) settle(now, 'accepted', n === 0 ? 1_000_000 : 0);
    },
    /** ... and then one is rejected, and so many more of the same burst are accepted. */
    reject: (later = 0) => {
      settle(now, 'rejected');
      burst.isTooMuch();
      for (let n = 0; n < later; n += 1) settle(now, 'accepted');
      burst.end();
    },
  };
}

describe('what a provider saves', () => {
  it('is 70 % of what was accepted at once, without the first', () => {
    expect(saving(11).burst.size).toBeCloseTo(7);
    expect(saving(1).burst.size).toBe(0);
  });

  it('is at least what a configured limit lets go at once', () => {
    expect(saving(11, 60).burst.size).toBe(60);
    expect(saving(11, 2).burst.size).toBeCloseTo(7);
  });

  it('is tried to be a quarter more, and one, when all of it was used', () => {
    const { burst, accept } = saving(11);
    accept(7);
    expect(burst.size).toBeCloseTo(7);
    accept(8);
    expect(burst.size).toBeCloseTo(7 * 1.25 + 1);
  });

  it('comes back in the time without demand, as far as it was used', () => {
    const { burst, accept } = saving(11);
    const refillMs = (idleMs: number, perMs = PER_MS) =>
      burst.refillMs(attemptAt(0, { idleMs }), perMs);
    expect(refillMs(0)).toBe(0);
    expect(refillMs(5_000, 0)).toBe(0);
    expect(refillMs(5_000)).toBe(5_000);
    expect(refillMs(50_000)).toBeCloseTo(7_000);
    accept(3);
    expect(refillMs(50_000)).toBe(3_000);
  });

  it('does not grow by attempts that the pace lets go', () => {
    const { burst, accept } = saving(1);
    for (let n = 0; n < 10; n += 1) accept(1);
    expect(burst.size).toBe(0);
  });

  it('is 70 % of what was accepted of a burst that was too much', () => {
    const { burst, accept, reject } = saving(101);
    accept(41);
    reject();
    expect(burst.size).toBeCloseTo(28);
    accept(1);
    reject();
    expect(burst.size).toBe(0);
  });

  it('does not depend on which attempts of a burst were rejected: they overtake each other', () => {
    const { burst, accept, reject } = saving(101);
    accept(9);
    reject(32);
    expect(burst.size).toBeCloseTo(28);
  });

  it('is counted once, even if nothing is sent again before the next time without demand', () => {
    const { burst, accept, reject } = saving(101);
    accept(41);
    burst.isTooMuch();
    accept(8);
    expect(burst.size).toBeCloseTo(28);
    reject();
    expect(burst.size).toBeCloseTo(0.7 * 7);
  });

  it('is nothing, if nothing tells how many were accepted', () => {
    const { burst } = saving(101);
    burst.isTooMuch();
    expect(burst.size).toBe(0);
  });

  it('is tried half as often after each burst that was too much', () => {
    const { burst, accept, reject } = saving(1);
    const triesUntil = () => {
      let tries = 0;
      for (; burst.size === 0; tries += 1) accept(2);
      accept(1);
      reject();
      return tries;
    };
    expect([1, 2, 3, 4].map(triesUntil)).toEqual([1, 2, 4, 8]);
  });
});

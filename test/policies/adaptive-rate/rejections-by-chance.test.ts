import { describe, expect, it } from 'vitest';
import { Closure } from '../../../src/policies/adaptive-rate/closure.ts';
import { RejectionsByChance } from '../../../src/policies/adaptive-rate/rejections-by-chance.ts';
import { SentAttempt } from '../../../src/policies/adaptive-rate/sent-attempt.ts';

/** Attempts of which each n-th is rejected, while the rate falls. */
function falling(every: number, isOfOtherKind: boolean) {
  const byChance = new RejectionsByChance();
  let at = 0;
  let order = 0;
  const attempt = (pacePerMs: number) => {
    at += 1 / pacePerMs;
    order += 1;
    const others = { others: 0, isPaced: true, isSaved: false, idleMs: 0 };
    return new SentAttempt({ at, order, pacePerMs, ...others });
  };
  for (const pacePerMs of [1, 0.9, 0.8, 0.7, 0.6, 0.5]) {
    for (let stop = 0; stop < 6; stop += 1) {
      for (let n = 1; n < every; n += 1) {
        byChance.settled(Object.assign(attempt(pacePerMs), { outcome: 'accepted' }), false);
      }
      const rejected = Object.assign(attempt(pacePerMs), { outcome: 'rejected', isOfOtherKind });
      byChance.settled(rejected, false);
      const closure = new Closure(rejected);
      closure.add(rejected, { accepted: 0, idleMs: 0, idles: 0 });
      byChance.explain(closure);
    }
  }
  return byChance;
}

describe('rejections by chance', () => {
  it('are ignored up to one in twenty if they look like those by the limit', () => {
    expect(falling(40, false).share).toBeCloseTo(1 / 40, 6);
    expect(falling(10, false).share).toBe(0);
  });

  it.each([40, 10, 3])('are ignored if they look different: one of %i', (every) => {
    expect(falling(every, true).share).toBeCloseTo(1 / every, 6);
  });
});

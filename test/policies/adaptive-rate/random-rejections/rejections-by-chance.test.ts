import { describe, expect, it } from 'vitest';
import { Closure } from '../../../../src/policies/adaptive-rate/attempts/closure.ts';
import { SentAttempt } from '../../../../src/policies/adaptive-rate/attempts/sent-attempt.ts';
import { RejectionsByChance } from '../../../../src/policies/adaptive-rate/random-rejections/rejections-by-chance.ts';

interface Kind {
  readonly isOfOtherKind?: boolean;
  readonly mayBeByCap?: boolean;
  readonly canTry?: boolean;
}

/** Attempts of which each n-th is rejected, while the rate falls. */
function falling(
  every: number,
  { isOfOtherKind = false, mayBeByCap = true, canTry = true }: Kind,
  byChance = new RejectionsByChance(canTry),
) {
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
      const differs = (stop % 2 === 0 ? -1 : 1) * Math.floor(every / 4);
      for (let n = 1; n < every + differs; n += 1) {
        byChance.settled(Object.assign(attempt(pacePerMs), { outcome: 'accepted' }), 0);
      }
      const rejected = Object.assign(attempt(pacePerMs), {
        outcome: 'rejected',
        isOfOtherKind,
        mayBeByCap,
      });
      byChance.settled(rejected, 0);
      const closure = new Closure(rejected);
      closure.add(rejected, { accepted: 0, idleMs: 0, idles: 0, refillMs: 0 });
      byChance.explain(closure);
    }
  }
  return byChance;
}

describe('rejections by chance', () => {
  it('are ignored up to one in twenty if they look like those by the limit', () => {
    expect(falling(40, {}).share).toBeCloseTo(1 / 40, 6);
  });

  it('need a trial if they are more', () => {
    const byChance = falling(10, {});
    expect(byChance.share).toBe(0);
    expect(byChance.trial.isSending).toBe(true);
  });

  it.each([
    ['accepted', false, 0.1],
    ['withdrawn', false, 0],
    ['rejected', false, 0],
    ['rejected', true, 0],
  ] as const)(
    'of which all attempts of the trial are %s (of other kind: %s): %d',
    (outcome, isOfOtherKind, share) => {
      const byChance = falling(10, {});
      const sent = { at: 0, order: 0, pacePerMs: 1, others: 0, isPaced: true, isSaved: false };
      const given = { outcome, isOfOtherKind };
      const attempt = Object.assign(new SentAttempt({ ...sent, idleMs: 0 }), given);
      let count = 0;
      for (; byChance.trial.isSending; count += 1) byChance.trial.sent();
      for (let n = 0; n < count; n += 1) byChance.tried(attempt);
      expect(byChance.share).toBeCloseTo(share, 6);
    },
  );

  it.each([
    [0, 0.1],
    [7, 0],
  ])(
    'pass a trial with %i rejections like those by the limit, and ten of other kind: %d',
    (like, share) => {
      const byChance = falling(10, {});
      let count = 0;
      for (; byChance.trial.isSending; count += 1) byChance.trial.sent();
      for (let n = 0; n < count; n += 1) {
        const sent = { at: n, order: n, pacePerMs: 1, others: 0, isPaced: true, isSaved: false };
        const outcome = n < 10 + like ? 'rejected' : 'accepted';
        const given = { outcome, isOfOtherKind: n < 10 } as const;
        byChance.tried(Object.assign(new SentAttempt({ ...sent, idleMs: 0 }), given));
      }
      expect(byChance.share).toBeCloseTo(share, 6);
    },
  );

  it.each([
    [10, false, true],
    [5, false, false],
    [5, true, true],
  ])(
    'of one in %i may pass a trial (not only the same wait: %s): %s',
    (every, mayBeByCap, isTried) => {
      const byChance = falling(every, { mayBeByCap });
      expect(byChance.trial.isSending).toBe(isTried);
    },
  );

  it('may pass a trial where others with fewer details came before', () => {
    const earlier = falling(5, { isOfOtherKind: true, mayBeByCap: false });
    expect(falling(5, {}, earlier).trial.isSending).toBe(true);
  });

  it.each([
    [16, 0.1],
    [17, 0],
  ])(
    'pass no trial whose attempts were not sent at its pace for lack of demand: %i of 32, %d',
    (count, share) => {
      const byChance = falling(10, {});
      for (let n = 0; n < 32; n += 1) {
        byChance.trial.sent();
        const sent = { at: n, order: n, pacePerMs: 1, others: 0, isPaced: true, isSaved: false };
        const given = { outcome: 'accepted', lacksDemand: n < count } as const;
        byChance.tried(Object.assign(new SentAttempt({ ...sent, idleMs: 0 }), given));
      }
      expect(byChance.share).toBeCloseTo(share, 6);
    },
  );

  it.each([['the attempts of other processes', { canTry: false }]])(
    'are never more in view of %s',
    (_, kind) => {
      const byChance = falling(10, kind);
      expect(byChance.share).toBe(0);
      expect(byChance.trial.isSending).toBe(false);
    },
  );

  it.each([40, 10, 3])('are ignored if they look different: one of %i', (every) => {
    expect(falling(every, { isOfOtherKind: true }).share).toBeCloseTo(1 / every, 6);
  });

  describe('that name waits', () => {
    /** One in 50 is rejected, after irregular closures and at a slower pace. */
    function named(isOfOtherKind: boolean) {
      const byChance = new RejectionsByChance(true);
      let at = 0;
      let order = 0;
      const restored: number[] = [];
      const send = (outcome: 'accepted' | 'rejected', pacePerMs: number) => {
        at += 1 / pacePerMs;
        order += 1;
        const given = { others: 0, isPaced: true, isSaved: false, idleMs: 0 };
        const sent = new SentAttempt({ at, order, pacePerMs, ...given });
        Object.assign(sent, { outcome, isOfOtherKind: outcome === 'rejected' && isOfOtherKind });
        const perMs = byChance.settled(sent, 0);
        if (perMs !== undefined) restored.push(perMs);
        return sent;
      };
      for (const [attempts, perMs] of [
        ...[100, 10, 100].map((count) => [count, 0.1] as const),
        ...[50, 50].map((count) => [count, 0.03] as const),
      ]) {
        for (let n = 1; n < attempts; n += 1) send('accepted', perMs);
        const closure = new Closure(send('rejected', perMs));
        at += 1_000;
        send('accepted', perMs);
        Object.assign(closure, { isOfOtherKind });
        byChance.explain(closure);
      }
      return { byChance, restored };
    }

    it('need a trial if they look like those by the limit', () => {
      const { byChance, restored } = named(false);
      expect(byChance.trial.isSending).toBe(true);
      expect(byChance.share).toBe(0);
      expect(restored).toEqual([]);
    });

    it('are ignored at once if they look different, and the earlier pace is tried', () => {
      const { byChance, restored } = named(true);
      expect(byChance.trial.isSending).toBe(false);
      expect(byChance.share).toBeGreaterThan(0.01);
      expect(restored).toHaveLength(1);
      expect(restored[0]).toBeCloseTo(0.1, 6);
    });
  });
});

import { describe, expect, it } from 'vitest';
import { Closure } from '../../../../src/policies/adaptive-rate/attempts/closure.ts';
import { attemptAt } from '../attempts.ts';

describe('the attempts that a closure ends', () => {
  it.each([
    ['all, if demand never paused', { accepted: 10, idles: 0 }, 10],
    ['without the first one after each pause', { accepted: 10, idles: 2 }, 8],
    ['without these, if there are three for each pause', { accepted: 6, idles: 2 }, 4],
    ['all, if fewer than three follow a pause', { accepted: 5, idles: 2 }, 5],
    ['all, if each follows a pause', { accepted: 4, idles: 4 }, 4],
  ])('count for the pace: %s', (_which, counted, byPace) => {
    const closure = new Closure(attemptAt(1_000));
    closure.add(attemptAt(1_000), { idleMs: 0, refillMs: 0, ...counted });
    expect(closure.byPace).toBe(byPace);
  });

  it('are counted until its last rejection', () => {
    const closure = new Closure(attemptAt(1_000));
    closure.add(attemptAt(1_000), { accepted: 10, idleMs: 0, idles: 0, refillMs: 0 });
    closure.add(attemptAt(2_000), { accepted: 12, idleMs: 300, idles: 1, refillMs: 0 });
    expect(closure.byPace).toBe(11);
  });
});

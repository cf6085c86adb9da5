import { describe, expect, it } from 'vitest';
import { Progress } from '../../src/policies/progress.ts';
import { holds } from '../support/holds.ts';
import { recorded } from './fixtures.ts';

type Step = readonly [
  durationMs: number,
  milestone: boolean,
  percentage: number,
  etaMs: number | null,
];

interface Case {
  readonly total: number;
  readonly milestonePercent: number;
  readonly steps: readonly Step[];
}

interface Ours {
  readonly milestones: readonly number[];
  readonly percentage: number | undefined;
  readonly etaMs: number | undefined;
}

function isNear(ours: number | undefined, theirs: number | null, distance: number): boolean {
  return Math.abs((ours ?? Number.NaN) - (theirs ?? Number.NaN)) < distance;
}

/** Requests one after the other, or so many at once. */
function play({ total, milestonePercent, steps }: Case, atOnce = 1): Ours[] {
  const progress = new Progress({ total, milestonePercent }, 0);
  let now = 0;
  return steps.map(([durationMs]) => {
    now += durationMs / atOnce;
    const milestones = progress.record('ok', durationMs, now);
    return { milestones, ...progress.snapshot(now, atOnce) };
  });
}

describe('progress', () => {
  const cases = recorded<Case>('progress');

  const known = cases.filter(({ total }) => total > 0);

  it('has the percentage and, of requests one by one, the time left of gentlify', () => {
    expect(known.length).toBeGreaterThan(800);
    for (const each of known) {
      const ours = play(each);
      each.steps.forEach(([, , percentage, etaMs], index) => {
        const { percentage: ourPercentage, etaMs: ourEtaMs } = ours[index] ?? {};
        holds(isNear(ourPercentage, percentage, 5e-7), each, index, ourPercentage);
        holds(isNear(ourEtaMs, etaMs, 0.5), each, index, ourEtaMs);
      });
    }
  });

  it('tells its milestones when gentlify does', () => {
    for (const { each, isTold, theirs, done } of milestones()) {
      if (!isRounded(each, done) && !isWhole(each, done)) holds(isTold === theirs, each, done);
    }
  });

  it('unlike gentlify, tells none late because of rounding', () => {
    const rounded = milestones().filter(({ each, done }) => isRounded(each, done));
    expect(rounded.length).toBeGreaterThan(10);
    for (const { isTold, theirs } of rounded) expect([isTold, theirs]).toEqual([true, false]);
  });

  it('unlike gentlify, tells of the whole where the steps do not add up to it', () => {
    const whole = milestones().filter(({ each, done }) => isWhole(each, done));
    expect(whole.length).toBeGreaterThan(1);
    for (const { isTold, theirs } of whole) expect([isTold, theirs]).toEqual([true, false]);
  });

  it('unlike gentlify, divides the time left by the requests that run at once', () => {
    let compared = 0;
    for (const each of known) {
      const ours = play(each, 4);
      each.steps.forEach(([, , , etaMs], index) => {
        // Fifty durations are remembered; while there are fewer, the first one has its say.
        if (index < 50 || etaMs === 0 || etaMs === null) return;
        compared += 1;
        holds(isNear(ours[index]?.etaMs, etaMs / 4, 0.5), each, index, ours[index]);
      });
    }
    expect(compared).toBeGreaterThan(500);
  });

  it('unlike gentlify, has come to the end of nothing', () => {
    const nothing = cases.filter(({ total }) => total === 0);
    expect(nothing.length).toBeGreaterThan(50);
    for (const each of nothing) {
      const ours = play(each);
      each.steps.forEach(([, , percentage, etaMs], index) => {
        expect({ percentage, etaMs }).toEqual({ percentage: 0, etaMs: null });
        expect(ours[index]).toMatchObject({ percentage: 100, etaMs: 0 });
      });
    }
  });

  /** What was told as each request ended. */
  function milestones() {
    return known.flatMap((each) => {
      const ours = play(each);
      return each.steps.map(([, theirs], index) => {
        const isTold = (ours[index]?.milestones.length ?? 0) > 0;
        return { each, isTold, theirs, done: index + 1 };
      });
    });
  }
});

/** Whether gentlify takes a milestone that is reached exactly for one that is not. */
function isRounded({ total, milestonePercent }: Case, done: number): boolean {
  const theirSteps = (count: number) => Math.floor(((count / total) * 100) / milestonePercent);
  const isExact = (done * 100) % (total * milestonePercent) === 0;
  return done <= total && isExact && theirSteps(done) === theirSteps(done - 1);
}

/** Whether the whole is no multiple of the steps, and has just been reached. */
function isWhole({ total, milestonePercent }: Case, done: number): boolean {
  const before = Math.floor(((total - 1) * 100) / total / milestonePercent);
  const isTold = before === Math.floor(100 / milestonePercent);
  return done === total && 100 % milestonePercent !== 0 && isTold;
}

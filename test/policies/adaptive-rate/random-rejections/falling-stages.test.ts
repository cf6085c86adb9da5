import { describe, expect, it } from 'vitest';
import { FallingStages } from '../../../../src/policies/adaptive-rate/random-rejections/falling-stages.ts';

const UNTRIED_SHARE = 0.05;

/**
 * A stage with six rejections.
 * @param closed how much longer than at its pace it took
 * @param stops how often attempts were rejected after accepted ones
 */
function stage(perMs: number, total: number, closed = 1, stops = 3) {
  return { perMs, ms: (closed * total) / perMs, total, rejected: 6, stops };
}

interface Followed {
  /** The attempts of the last stage, and its pace. */
  readonly total?: number;
  readonly perMs?: number;
  readonly closed?: number;
  readonly stops?: number;
  /** The share that is known. */
  readonly share?: number;
  readonly mostShare?: number;
}

/** Follows three stages whose shares differ too much to be compared. @returns what the last shows */
function far(given: Followed = {}) {
  const { total = 150, perMs = 1, closed, stops, share = 0, mostShare = 0.75 } = given;
  const stages = new FallingStages(UNTRIED_SHARE);
  expect(stages.follow(stage(10, 600), 0, mostShare)).toBeUndefined();
  expect(stages.follow(stage(5, 60), 0, mostShare)).toBeUndefined();
  return stages.follow(stage(perMs, total, closed, stops), share, mostShare);
}

describe('a stage far below the best one', () => {
  it('shows the share of the last two, however unlike they are', () => {
    expect(far()).toEqual({ stage: stage(1, 150), share: 12 / 210, ratePerMs: 9.9 });
  });

  it.each<[string, Followed]>([
    ['more is accepted than an eighth of the best', { perMs: 1.3 }],
    ['the share needs no trial', { total: 200 }],
    ['the provider was closed for long, and rejected several', { closed: 1.5 }],
    ['a share is known', { share: 0.02 }],
    ['the share is too great', { mostShare: 0.04 }],
    ['the share of both is too great', { mostShare: 0.05 }],
  ])('shows nothing where %s', (_, given) => {
    expect(far(given)).toBeUndefined();
  });

  it('shows it where each rejection made the provider wait', () => {
    expect(far({ closed: 1.5, stops: 4 })).toMatchObject({ share: 12 / 210 });
  });

  it('must be twice as far below after each mistake, until these are forgotten', () => {
    const stages = new FallingStages(UNTRIED_SHARE);
    const isFound = (perMs: number) => {
      // Few requests between rejections: these two stages are not alike.
      stages.follow(stage(5, 40), 0, 0.75);
      return stages.follow(stage(perMs, 150), 0, 0.75) !== undefined;
    };
    stages.follow(stage(10, 600), 0, 0.75);
    expect(isFound(1)).toBe(true);
    stages.fail();
    // The last two stages have a share of 0.04.
    expect(stages.follow(stage(0.4, 150), 0, 0.75)).toBeUndefined();
    expect(isFound(1)).toBe(false);
    expect(isFound(0.6)).toBe(true);
    stages.forgive();
    expect(isFound(1)).toBe(true);
  });
});

describe('stages with the same share', () => {
  it.each([
    [0.09, true],
    [0.1, false],
  ])('show it where a share of %d is known: %s', (known, isFound) => {
    const stages = new FallingStages(UNTRIED_SHARE);
    const found = [1, 0.8, 0.6].map((perMs) => stages.follow(stage(perMs, 60), known, 0.75));
    expect(found[2] !== undefined).toBe(isFound);
  });
});

describe('the falls that are needed', () => {
  /** @returns after how many falls stages with the same share show it */
  function needed(stages: FallingStages): number {
    for (let falls = 0; ; falls += 1) {
      const found = stages.follow(stage(0.8 ** falls, 60), 0, 0.75);
      if (found !== undefined) return falls;
    }
  }

  it('are two, and twice as many after each mistake, until these are forgotten', () => {
    const stages = new FallingStages(UNTRIED_SHARE);
    expect(needed(stages)).toBe(2);
    stages.fail();
    expect(needed(stages)).toBe(4);
    stages.forgive();
    expect(needed(stages)).toBe(2);
  });
});

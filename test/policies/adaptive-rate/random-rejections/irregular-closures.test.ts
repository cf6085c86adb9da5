import { describe, expect, it } from 'vitest';
import { IrregularClosures } from '../../../../src/policies/adaptive-rate/random-rejections/irregular-closures.ts';

/** Attempts before a closure of some ms; the last ones are rejected. */
interface Cycle {
  readonly accepted: number;
  readonly rejected?: number;
  readonly closedMs?: number;
}

const PER_MS = 0.1;

/** @returns what was found, by the number of closures until then */
function found(cycles: readonly Cycle[], closures = new IrregularClosures()) {
  let at = 0;
  const results: Record<number, unknown> = {};
  for (const [index, { accepted, rejected = 1, closedMs = 1_000 }] of cycles.entries()) {
    for (let n = 1; n < accepted + rejected; n += 1) {
      at += 1 / PER_MS;
      closures.settled(n >= accepted, at);
    }
    // The first attempt that is accepted again ends the closure.
    at += closedMs;
    closures.settled(false, at);
    const stage = closures.stopped(PER_MS);
    if (stage !== undefined) results[index + 1] = stage;
  }
  return results;
}

const MANY = { accepted: 100 };
const FEW = { accepted: 10 };
const LONG = { accepted: 100, closedMs: 5_000 };

describe('closures', () => {
  it('are irregular if one of them comes soon after the one before', () => {
    const { 3: stage, ...others } = found([MANY, FEW, MANY]);
    expect(stage).toMatchObject({ total: 213, rejected: 3 });
    expect((stage as { perMs: number }).perMs).toBeCloseTo(PER_MS);
    expect((stage as { ms: number }).ms).toBeCloseTo(210 / PER_MS + 3_000, -2);
    expect(others).toEqual({});
  });

  it.each([
    ['as much comes before each', [MANY, { accepted: 60 }, MANY, MANY, MANY, MANY]],
    ['they are short', [MANY, FEW, MANY].map((cycle) => ({ ...cycle, closedMs: 200 }))],
    ['the waits differ', [MANY, { accepted: 10, closedMs: 1_200 }, MANY]],
    ['one is long', [MANY, { accepted: 60, closedMs: 10_000 }, MANY]],
    ['one comes soon and is short', [LONG, { accepted: 30, closedMs: 100 }, LONG]],
    [
      'several requests are rejected in each',
      [MANY, FEW, MANY].map((c) => ({ ...c, rejected: 2 })),
    ],
    ['more than one in ten is rejected', [9, 2, 9].map((accepted) => ({ accepted }))],
    ['there are only two', [MANY, FEW]],
  ])('are not irregular if %s', (_, cycles) => {
    expect(found(cycles)).toEqual({});
  });

  it('are forgotten after six regular ones, and after irregular ones', () => {
    expect(Object.keys(found([...Array(6).fill(MANY), MANY, FEW, MANY, FEW, MANY, MANY]))).toEqual([
      '9',
      '12',
    ]);
  });

  it('are forgotten at a restart', () => {
    const closures = new IrregularClosures();
    found([MANY, FEW], closures);
    closures.restart();
    expect(found([MANY], closures)).toEqual({});
  });
});

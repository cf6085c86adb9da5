import { describe, expect, it } from 'vitest';
import { RejectionDamping } from '../../../src/policies/adaptive-rate/rejection-damping.ts';

/** Stops that follow each other after so many attempts each. @returns how many are to be ignored */
function stops(damping: RejectionDamping, count: number, attempts: number, perMs: number): number {
  let ignored = 0;
  for (let n = 0; n < count; n += 1) {
    for (let k = 0; k < attempts; k += 1) damping.settled();
    if (damping.isByChance(perMs)) ignored += 1;
  }
  return ignored;
}

/** Ones that were found: two of a hundred, at a rate that has fallen. */
function found(): RejectionDamping {
  const damping = new RejectionDamping();
  stops(damping, 6, 50, 1);
  stops(damping, 6, 50, 0.95);
  stops(damping, 6, 50, 0.9);
  return damping;
}

describe('rejections that do not depend on the rate', () => {
  it('are found where less and less was sent, and as many parts of it were rejected', () => {
    const damping = new RejectionDamping();
    expect(stops(damping, 6, 50, 1)).toBe(0);
    expect(stops(damping, 6, 50, 0.95)).toBe(0);
    expect(damping.share).toBe(0);
    expect(stops(damping, 6, 50, 0.9)).toBe(1);
    expect(damping.share).toBeCloseTo(0.02, 6);
    expect(damping.ratePerMs).toBe(1);
    expect(stops(damping, 60, 50, 1)).toBe(60);
    expect(damping.share).toBeCloseTo(0.02, 6);
  });

  it('are found where more were rejected than before, at a lower rate', () => {
    const damping = new RejectionDamping();
    stops(damping, 6, 200, 1);
    stops(damping, 6, 40, 0.95);
    expect(stops(damping, 6, 50, 0.9)).toBe(1);
    expect(damping.share).toBeGreaterThan(0);
  });

  it.each([
    ['the rate is much the same', 50, 0.98, 0.96],
    ['fewer are rejected', 130, 0.95, 0.9],
    ['the rate has fallen but once', 50, 0.5, 0.5],
    ['that is too much for chance', 10, 0.95, 0.9],
  ])('are not found where %s', (_, attempts, second, third) => {
    const damping = new RejectionDamping();
    stops(damping, 6, Math.min(50, attempts), 1);
    stops(damping, 6, attempts, second);
    stops(damping, 6, attempts, third);
    expect(damping.share).toBe(0);
  });

  it('are disproved by more than twice their share, and found later from then on', () => {
    const damping = found();
    expect(stops(damping, 20, 5, 1)).toBeLessThan(5);
    expect(damping.share).toBe(0);
    for (const perMs of [1, 0.95, 0.9]) stops(damping, 6, 50, perMs);
    expect(damping.share).toBe(0);
    for (const perMs of [0.85, 0.8, 0.75]) stops(damping, 6, 50, perMs);
    expect(damping.share).toBeCloseTo(0.02, 6);
  });

  it('are disproved where their part grows beyond one in twenty, however slowly', () => {
    const damping = found();
    // Each time little more than before, so that it is never twice as much.
    for (let attempts = 40; attempts >= 8; attempts -= 2) stops(damping, 6, attempts, 1);
    expect(damping.share).toBe(0);
  });

  it('are forgotten where they do not come any more', () => {
    const damping = found();
    for (let n = 0; n < 20_000; n += 1) damping.settled();
    expect(damping.share).toBeLessThan(0.005);
  });
});

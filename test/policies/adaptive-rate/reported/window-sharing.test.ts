import { describe, expect, it } from 'vitest';
import { WindowSharing } from '../../../../src/policies/adaptive-rate/reported/window-sharing.ts';

const LIMIT = 1_000;
const SPREAD = { limit: LIMIT, lengthMs: 10_000, isSpread: true };

describe('the use of a window by others', () => {
  it.each([
    [50, false, true],
    [51, false, false],
    [250, true, true],
    [251, true, false],
  ])('of %i of 1,000, in the first window: %s, leaves it alone: %s', (amount, isFirst, isAlone) => {
    const sharing = new WindowSharing();
    sharing.used(amount, LIMIT, isFirst);
    expect(sharing.isAlone).toBe(isAlone);
  });

  it('counts in the next window, too', () => {
    const sharing = new WindowSharing();
    sharing.used(100, LIMIT, false);
    sharing.begin();
    expect(sharing.isAlone).toBe(false);
    sharing.begin();
    expect(sharing.isAlone).toBe(true);
  });

  it.each([
    [995, true, true],
    [994, true, false],
    [994, false, true],
  ])('shows where a sum of 1,000 falls to %i, spread: %s', (sum, isSpread, isAlone) => {
    const sharing = new WindowSharing();
    sharing.compare(0, 1, 1_000, { ...SPREAD, isSpread });
    sharing.compare(100, 2, sum, { ...SPREAD, isSpread });
    expect(sharing.isAlone).toBe(isAlone);
  });

  it('is tested in each eighth window that was used alone', () => {
    const sharing = new WindowSharing();
    const tests: number[] = [];
    for (let n = 1; n <= 20; n += 1) {
      sharing.begin();
      if (sharing.isTest) tests.push(n);
      if (n === 9) sharing.used(LIMIT, LIMIT, false);
    }
    expect(tests).toEqual([7, 17]);
  });
});

describe('the refill of a window', () => {
  it('is measured over at least a tenth of its length', () => {
    const sharing = new WindowSharing();
    sharing.compare(0, 1, 1_000, SPREAD);
    sharing.compare(999, 2, 1_500, SPREAD);
    expect(sharing.fillPerMs).toBe(0);
    sharing.compare(1_000, 3, 1_500, SPREAD);
    expect(sharing.fillPerMs).toBe(0.5);
  });

  it('leaves out the corrected costs of attempts before the first report', () => {
    const sharing = new WindowSharing();
    sharing.compare(0, 5, 1_000, SPREAD);
    sharing.corrected(6, -400);
    sharing.corrected(5, -100);
    sharing.compare(1_000, 7, 900, SPREAD);
    expect(sharing.isAlone).toBe(true);
    expect(sharing.fillPerMs).toBe(0);
  });
});

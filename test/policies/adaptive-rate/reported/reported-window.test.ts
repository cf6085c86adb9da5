import { describe, expect, it } from 'vitest';
import { ReportedWindow } from '../../../../src/policies/adaptive-rate/reported/reported-window.ts';

const LIMIT = 60;
const WINDOW_MS = 6_000;

interface Report {
  readonly at: number;
  readonly remaining: number;
  readonly resetMs: number;
  /** What was sent by it and is not rejected; by now the same, unless that is said. */
  readonly total: number;
  readonly totalNow?: number;
  readonly now?: number;
  readonly apartMs?: number;
  readonly isRejected?: boolean;
}

function tell(window: ReportedWindow, report: Report): void {
  const { at, total, totalNow = total, now = at, resetMs, remaining } = report;
  const { apartMs = 5, isRejected = false } = report;
  const ends = { earliestEnd: at + resetMs, latestEnd: now + resetMs, resetMs, apartMs };
  const counts = { limit: LIMIT, remaining, order: total, total, totalNow, isRejected };
  window.report({ at, ...ends, ...counts }, now);
}

/** A window that began at 0 with one attempt, of which it told 10 ms later. */
function begun(): ReportedWindow {
  const window = new ReportedWindow();
  tell(window, { at: 0, remaining: LIMIT - 1, resetMs: WINDOW_MS, total: 1, now: 10 });
  return window;
}

/**
 * Uses windows one after the other, without rejections. @returns when the last has begun, and all
 * that was sent
 */
function used(window: ReportedWindow, windows: number): { at: number; total: number } {
  let at = 0;
  let total = LIMIT;
  for (let n = 0; n < windows; n += 1) {
    at += window.wait(1, total, at);
    total += 1;
    tell(window, { at, remaining: LIMIT - 1, resetMs: WINDOW_MS, total, now: at + 10 });
    total += LIMIT - 1;
  }
  return { at, total };
}

/** A window that begins at `start`: of ten attempts in its first second, six came back by `later`. */
function sliding() {
  const window = begun();
  const { at, total } = used(window, 2);
  const start = at + window.wait(1, total, at);
  window.wait(1, total, start);
  tell(window, { at: start, remaining: 30, resetMs: WINDOW_MS, total: total + 1 });
  const later = start + 1_000;
  tell(window, { at: later, remaining: 26, resetMs: WINDOW_MS - 1_000, total: total + 11 });
  return { window, start, later, total };
}

describe('a window whose end is told', () => {
  it('bounds nothing before it is told, nor long after', () => {
    expect(new ReportedWindow().wait(1, 1_000, 0)).toBe(0);
    const window = begun();
    expect(window.wait(1, LIMIT, 15_010)).toBeGreaterThanOrEqual(0);
    expect(window.wait(1, 10 * LIMIT, 15_011)).toBe(0);
  });

  it('bounds what goes after a time without demand, however long that was', () => {
    const window = begun();
    window.resumed(LIMIT, 100_000);
    expect(window.wait(1, LIMIT, 100_000)).toBe(0);
    expect(window.wait(1, 2 * LIMIT, 100_001)).toBeGreaterThan(0);
    expect(window.wait(1, 2 * LIMIT, 115_001)).toBe(0);
  });

  it('lets all that is left go at once, and then nothing until its end', () => {
    const window = begun();
    expect(window.wait(1, LIMIT - 1, 20)).toBe(0);
    expect(window.wait(1, LIMIT, 20)).toBe(WINDOW_MS + 10 - 20);
    expect(window.rateAt(LIMIT, 20)).toBeUndefined();
    expect(window.usualPerMs).toBe(LIMIT / WINDOW_MS);
  });

  it('lets go what a cost fits in, or a cost that no window fits', () => {
    const window = begun();
    expect(window.wait(30, 30, 20)).toBe(0);
    expect(window.wait(31, 30, 20)).toBeGreaterThan(0);
    expect(window.wait(1_000, 0, 20)).toBe(0);
  });

  it('tests its first ends with one attempt, and then lets a whole window go at once', () => {
    const window = begun();
    const endsAt = WINDOW_MS + 10;
    expect(window.wait(1, LIMIT, endsAt)).toBe(0);
    expect(window.wait(1, LIMIT + 1, endsAt)).toBe(1_000);
    tell(window, { at: endsAt, remaining: LIMIT - 1, resetMs: WINDOW_MS, total: LIMIT + 1 });
    expect(window.wait(1, LIMIT + 1, endsAt)).toBe(0);
    const later = begun();
    const { at, total } = used(later, 3);
    const next = at + later.wait(1, total, at);
    expect(later.wait(LIMIT, total, next)).toBe(0);
    expect(later.wait(LIMIT - 1, total + 1, next)).toBe(0);
  });

  it('lets no more go at once than it lets go without a wait, during its test and after it', () => {
    const window = begun();
    const endsAt = WINDOW_MS + 10;
    expect(window.left(1, LIMIT, endsAt)).toBe(1);
    expect(window.left(1, LIMIT + 1, endsAt)).toBe(0);
    // The answer of the test may be lost with its process.
    expect(window.wait(1, LIMIT + 1, endsAt + 1_000)).toBe(0);
    expect(window.left(1, LIMIT + 1, endsAt + 1_000)).toBe(LIMIT - 1);
  });

  it('tests for half a window at most, as answers may take longer than the window', () => {
    const window = new ReportedWindow();
    tell(window, { at: 0, remaining: LIMIT - 1, resetMs: 800, total: 1, now: 10 });
    const startsAt = window.wait(1, LIMIT, 10) + 10;
    expect(window.wait(1, LIMIT, startsAt)).toBe(0);
    expect(window.wait(1, LIMIT + 1, startsAt)).toBe(400);
    expect(window.wait(1, LIMIT + 1, startsAt + 400)).toBe(0);
  });

  it('is not over where a test is rejected', () => {
    const window = begun();
    const at = WINDOW_MS + 10;
    expect(window.wait(1, LIMIT, at)).toBe(0);
    tell(window, { at, remaining: 0, resetMs: 400, total: LIMIT, isRejected: true });
    expect(window.isExact).toBe(true);
    expect(window.wait(1, LIMIT, at)).toBe(400);
  });

  it('counts attempts that are out together in any order', () => {
    const window = new ReportedWindow();
    const resetMs = WINDOW_MS;
    // Sixteen are out; the third is counted last, the last one first.
    tell(window, { at: 0, remaining: LIMIT - 16, resetMs, total: 3, totalNow: 16 });
    tell(window, { at: 0, remaining: LIMIT - 1, resetMs, total: 16 });
    expect(window.wait(1, LIMIT - 1, 0)).toBe(0);
    expect(window.wait(1, LIMIT, 0)).toBeGreaterThan(0);
  });

  it('leaves what others have used', () => {
    const window = new ReportedWindow();
    tell(window, { at: 0, remaining: 50, resetMs: WINDOW_MS, total: 1 });
    expect(window.wait(1, 50, 0)).toBe(0);
    expect(window.wait(1, 51, 0)).toBeGreaterThan(0);
  });

  it('spreads what is left from the first report on, where others have used more than a quarter', () => {
    const window = new ReportedWindow();
    tell(window, { at: 0, remaining: 44, resetMs: WINDOW_MS, total: 1 });
    expect(window.isExact).toBe(true);
    tell(window, { at: 10, remaining: 42, resetMs: WINDOW_MS - 10, total: 2 });
    expect(window.isExact).toBe(false);
    expect(window.rateAt(2, 10)).toBeCloseTo(42 / WINDOW_MS, 4);
  });

  it('takes what was used by its first report for our own, if that is a rejection', () => {
    const window = new ReportedWindow();
    tell(window, { at: 0, remaining: 0, resetMs: WINDOW_MS, total: 1, isRejected: true });
    expect(window.isExact).toBe(true);
  });

  it('spreads one of eight windows that it uses alone, so that others can begin', () => {
    const window = begun();
    const spread: number[] = [];
    let at = 0;
    let total = LIMIT;
    for (let n = 1; n <= 17; n += 1) {
      at += WINDOW_MS + 1_000;
      if (window.rateAt(total, at) !== undefined) spread.push(n);
      total += 1;
      tell(window, { at, remaining: LIMIT - 1, resetMs: WINDOW_MS, total, now: at + 10 });
      total += LIMIT - 1;
    }
    expect(spread).toEqual([7, 15]);
  });

  it.each([
    [2, 0, false],
    [3, 0, true],
    // Attempts before the first report cost less than estimated: that is no use by others.
    [0, -10, false],
  ])('spreads the next one too if others use %i of it', (others, corrected, isSpread) => {
    const window = begun();
    let at = 0;
    let total = LIMIT;
    for (let n = 1; n <= 7; n += 1) {
      at += WINDOW_MS + 1_000;
      window.rateAt(total, at);
      total += 1;
      tell(window, { at, remaining: LIMIT - 1, resetMs: WINDOW_MS, total, now: at + 10 });
      if (n < 7) total += LIMIT - 1;
    }
    window.corrected(total, corrected);
    total += 20 + corrected;
    const remaining = LIMIT - 21 - others;
    const end = { at: at + 3_000, remaining, resetMs: WINDOW_MS - 3_000, total };
    // All that was sent by the answer may have been counted before: only the order shows others.
    tell(window, { ...end, totalNow: total + 5 });
    expect(window.rateAt(total + 5, at + WINDOW_MS + 1_000) !== undefined).toBe(isSpread);
  });

  it('spreads what is left over the time that is left, where others use a window too', () => {
    const window = begun();
    const { at, total } = used(window, 2);
    const start = at + window.wait(1, total, at);
    window.wait(1, total, start);
    tell(window, { at: start, remaining: 30, resetMs: WINDOW_MS, total: total + 1 });
    expect(window.isExact).toBe(false);
    expect(window.wait(1, total + 1, start)).toBe(0);
    expect(window.rateAt(total + 1, start)).toBeCloseTo(30 / WINDOW_MS, 4);
    expect(window.rateAt(total + 31, start)).toBeCloseTo((0.05 * LIMIT) / WINDOW_MS, 6);
  });

  it('sends what comes back before the end too, where the window slides', () => {
    const { window, later, total } = sliding();
    expect(window.isExact).toBe(false);
    expect(window.rateAt(total + 11, later)).toBeCloseTo(26 / (WINDOW_MS - 1_000) + 6 / 1_000, 4);
    // The answer took a second: six more have come back since it was sent.
    expect(window.rateAt(total + 20, later + 1_000)).toBeCloseTo(
      (26 - 9 + 6) / (WINDOW_MS - 2_000) + 6 / 1_000,
      4,
    );
    // Others used it: nothing is known to come back.
    tell(window, { at: later + 10, remaining: 5, resetMs: WINDOW_MS - 1_010, total: total + 12 });
    expect(window.rateAt(total + 12, later + 10)).toBeCloseTo(5 / (WINDOW_MS - 1_010), 4);
  });

  it('sends what came back since the last answered attempt was sent, or since the window began', () => {
    const { window, start, later, total } = sliding();
    // An answer that took a second tells of what was left when its attempt was sent.
    const sent = { at: later + 10, now: later + 1_010, resetMs: WINDOW_MS - 1_010 };
    tell(window, { ...sent, remaining: 25, total: total + 12, totalNow: total + 18 });
    const rate = window.rateAt(total + 18, later + 1_010) ?? 0;
    const filledPerMs = 6 / 1_010;
    expect(rate).toBeCloseTo((25 - 6 + 6) / (WINDOW_MS - 2_010) + filledPerMs, 4);
    // Attempts of before cost five more than estimated: what is left stays.
    window.corrected(total, 5);
    expect(window.rateAt(total + 23, later + 1_010)).toBeCloseTo(rate, 9);
    const next = start + WINDOW_MS + 200;
    expect(window.rateAt(total + 23, next)).toBeCloseTo(LIMIT / WINDOW_MS + filledPerMs, 4);
  });

  it('spreads them where ends have proved wrong, until some have proved true', () => {
    const window = begun();
    for (const start of [6_010, 8_500]) {
      window.wait(1, LIMIT, start);
      tell(window, { at: start, remaining: 0, resetMs: 2_000, total: LIMIT, isRejected: true });
    }
    expect(window.isExact).toBe(true);
    window.wait(1, LIMIT, 11_000);
    expect(window.isExact).toBe(false);
    tell(window, { at: 11_000, remaining: 59, resetMs: 6_000, total: LIMIT + 1 });
    window.rateAt(LIMIT + 1, 17_400);
    expect(window.isExact).toBe(true);
  });

  it('spreads them though each rejection comes back after the next end', () => {
    const window = begun();
    for (const at of [6_020, 12_600, 19_200, 25_900]) {
      expect(window.isExact).toBe(true);
      const now = at + WINDOW_MS + 500;
      tell(window, { at, now, remaining: 0, resetMs: 2_000, total: LIMIT, isRejected: true });
    }
    expect(window.isExact).toBe(false);
  });

  it('spreads them where one is used up as it begins: others use it, or the last one counts', () => {
    const window = begun();
    window.wait(1, LIMIT, 6_010);
    tell(window, { at: 6_010, remaining: 0, resetMs: 6_000, total: LIMIT, isRejected: true });
    expect(window.isExact).toBe(false);
    expect(window.rateAt(LIMIT, 6_010)).toBeCloseTo((0.05 * LIMIT) / WINDOW_MS, 6);
  });

  it('waits for the earliest end that fits all times, where these are whole seconds', () => {
    const window = begun();
    const apartMs = 1_500;
    tell(window, { at: 1_000, remaining: 58, resetMs: 5_000, total: 2, now: 1_010, apartMs });
    tell(window, { at: 1_900, remaining: 57, resetMs: 4_000, total: 3, now: 1_910, apartMs });
    expect(window.wait(1, LIMIT, 2_000)).toBe(5_910 - 2_000);
  });

  it('has no end where that moves with what is sent', () => {
    const window = new ReportedWindow();
    for (let n = 0; n < 4; n += 1) {
      expect(window.isMoving).toBe(n > 2);
      const at = n * 100;
      tell(window, { at, remaining: LIMIT - 1 - n, resetMs: WINDOW_MS, total: n + 1 });
    }
  });
});

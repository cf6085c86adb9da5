import { describe, expect, it } from 'vitest';
import { Marks } from '../../../src/core/adaptive-rate/marks.ts';

/** A mark after so many accepted requests, of which each has cost one. */
const mark = (at: number, accepted: number) => ({
  at,
  order: accepted,
  accepted,
  total: accepted,
});

describe('marks of congestion', () => {
  it('tell no rate before the first', () => {
    expect(new Marks(0).ratePerMs).toBe(0);
  });

  it('measure from the start to the first, over no less than a second', () => {
    const marks = new Marks(1_000);
    marks.add(mark(1_100, 10), 1_100);
    expect(marks.ratePerMs).toBe(10 / 1_000);
    const slow = new Marks(1_000);
    slow.add(mark(5_000, 10), 5_000);
    expect(slow.ratePerMs).toBe(10 / 4_000);
  });

  it('measure what was accepted between the last two', () => {
    const marks = new Marks(0);
    marks.add(mark(1_000, 50), 1_000);
    marks.add(mark(3_000, 70), 3_000);
    expect(marks.ratePerMs).toBe(20 / 2_000);
    marks.add(mark(3_010, 71), 3_010);
    expect(marks.ratePerMs).toBe(1 / 10);
  });

  it('measure over at least the longest time for which nothing was let in', () => {
    const marks = new Marks(0);
    // Closed from 1 to 11 s: the window may be as long as that.
    marks.add(mark(11_000, 100), 1_000);
    expect(marks.windowMs).toBe(10_000);
    marks.add(mark(12_000, 130), 12_000);
    marks.add(mark(15_000, 150), 15_000);
    marks.add(mark(21_000, 200), 21_000);
    expect(marks.ratePerMs).toBe(100 / 10_000);
    // As far back as needed, and no further.
    marks.add(mark(22_000, 210), 22_000);
    expect(marks.ratePerMs).toBe(80 / 10_000);
  });

  it('take the start where no mark is old enough', () => {
    const marks = new Marks(0);
    marks.add(mark(500, 10), 500);
    marks.add(mark(11_000, 10), 400);
    expect(marks.ratePerMs).toBe(10 / 11_000);
  });

  it('learn how long the window is as it stays closed', () => {
    const marks = new Marks(0);
    marks.add(mark(1_000, 10), 1_000);
    marks.prolong(4_000);
    expect(marks.windowMs).toBe(3_000);
    expect(marks.last?.at).toBe(4_000);
    // What is known of an earlier attempt says less.
    marks.prolong(2_000);
    expect(marks.last?.at).toBe(4_000);
    expect(marks.windowMs).toBe(3_000);
  });

  it('correct what was sent before them, and nothing else', () => {
    const marks = new Marks(0);
    marks.add(mark(1_000, 10), 1_000);
    marks.add(mark(2_000, 20), 2_000);
    marks.corrected(10, 5);
    expect(marks.ratePerMs).toBe(15 / 1_000);
    marks.corrected(9, 5);
    expect(marks.ratePerMs).toBe(15 / 1_000);
    marks.corrected(20, 5);
    expect(marks.ratePerMs).toBe(15 / 1_000);
  });

  it('leave out time that tells nothing', () => {
    const marks = new Marks(0);
    marks.add(mark(1_000, 10), 1_000);
    marks.skip(60_000);
    marks.add(mark(63_000, 30), 63_000);
    expect(marks.ratePerMs).toBe(20 / 2_000);
  });

  it('know the rate of the last ten that were sent', () => {
    const marks = new Marks(0);
    expect(marks.recentBefore(100)).toBe(0);
    for (let at = 0; at < 1_000; at += 100) marks.sent(at);
    expect(marks.recentBefore(900)).toBe(9 / 900);
    expect(marks.recentBefore(0)).toBe(0);
    for (let at = 1_000; at < 1_100; at += 10) marks.sent(at);
    expect(marks.recentBefore(1_090)).toBe(9 / 90);
  });

  it('remember no more than 32', () => {
    const marks = new Marks(0);
    // Closed for longer than all of them took: it measures from the oldest that is known.
    marks.add(mark(1_000, 0), -1e9);
    for (let n = 1; n <= 100; n += 1) marks.add(mark(1_000 + n * 10, n), 1_000 + n * 10);
    expect(marks.ratePerMs).toBeCloseTo(31 / 310, 12);
    expect(marks.last?.accepted).toBe(100);
  });
});

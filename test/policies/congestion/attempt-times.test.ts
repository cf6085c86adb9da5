import { expect, it } from 'vitest';
import { AttemptTimes } from '../../../src/policies/congestion/attempt-times.ts';

it('counts answers, timeouts and the time of both', () => {
  const times = new AttemptTimes();
  expect(times.count).toBe(0);
  expect(times.answeredPart(100)).toBe(0);
  times.answered(20);
  times.answered(40);
  times.timedOut();
  expect(times.count).toBe(3);
  expect(times.answeredPart(100)).toBeCloseTo(2 / 1.6);
  expect(times.excess(100)).toBeCloseTo(1.6 - 2);
});

it('takes half of the timeout for the time of an answer that is not known', () => {
  const times = new AttemptTimes();
  times.answered(Number.NaN);
  times.answered(10);
  expect(times.answeredPart(100)).toBeCloseTo(2 / 0.6);
  expect(times.meanMs).toBe(10);
});

it('lets earlier attempts count half', () => {
  const times = new AttemptTimes();
  times.answered(30);
  times.answered(Number.NaN);
  times.timedOut();
  times.halve();
  expect(times.count).toBe(1.5);
  expect(times.excess(100)).toBeCloseTo(0.9 - 1);
  expect(times.meanMs).toBe(30);
});

it('counts an answer that took longer than the timeout as one timeout', () => {
  const times = new AttemptTimes();
  times.answered(900);
  times.answered(700);
  times.timedOut();
  expect(times.excess(100)).toBe(1);
  expect(times.answeredPart(100)).toBeCloseTo(2 / 3);
});

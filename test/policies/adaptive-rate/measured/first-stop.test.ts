import { expect, it } from 'vitest';
import { Closure } from '../../../../src/policies/adaptive-rate/attempts/closure.ts';
import { SentAttempt } from '../../../../src/policies/adaptive-rate/attempts/sent-attempt.ts';
import { FirstStop } from '../../../../src/policies/adaptive-rate/measured/first-stop.ts';

/** A closure of four probes that were rejected in a row, as in an outage. */
function outage(at: number): Closure {
  const attempts = [0, 1, 2, 3].map((order) => {
    const sent = { at: at + order, order, pacePerMs: Number.POSITIVE_INFINITY };
    const others = { others: 0, isPaced: false, isSaved: false, idleMs: 0 };
    return Object.assign(new SentAttempt({ ...sent, ...others }), { isForeign: true });
  });
  const closure = new Closure(attempts[0] as SentAttempt);
  for (const attempt of attempts)
    closure.add(attempt, { accepted: 10, idleMs: 0, idles: 0, refillMs: 0 });
  return closure;
}

it('two closures that look like outages are left out; later ones show the limit', () => {
  const first = new FirstStop(0);
  const skipped = [100, 200, 300].map((at) => {
    return first.isSkipped(outage(at), at + 10, Number.NEGATIVE_INFINITY);
  });
  expect(skipped).toEqual([true, true, false]);
});

/** A closure that ends with the last of these attempts. @param accepted attempts before it */
function closed(accepted: number, ...sentAt: readonly number[]): Closure {
  const attempts = sentAt.map((at) => {
    const sent = { at, order: at, others: 0, pacePerMs: 1, isPaced: true };
    return new SentAttempt({ ...sent, isSaved: false, idleMs: 0 });
  });
  const closure = new Closure(attempts[0] as SentAttempt);
  for (const attempt of attempts)
    closure.add(attempt, { accepted, idleMs: 0, idles: 0, refillMs: 0 });
  return closure;
}

const UNNAMED = Number.NEGATIVE_INFINITY;

it('a first wait of minutes is left out; a second one shows a window', () => {
  const first = new FirstStop(0);
  const skipped = [10_000, 300_000].map((at) => {
    return first.isSkipped(closed(500, at), at + 180_000, at + 180_000);
  });
  expect(skipped).toEqual([true, false]);
});

it('a first closure of minutes that names no wait is left out; a second one shows a window', () => {
  const first = new FirstStop(0);
  const skipped = [10_000, 300_000].map((at) => {
    return first.isSkipped(closed(500, at, at + 91_000), at + 120_000, UNNAMED);
  });
  expect(skipped).toEqual([true, false]);
});

it('a closure that may have lasted a minute shows a window', () => {
  const first = new FirstStop(0);
  expect(first.isSkipped(closed(500, 10_000, 99_000), 130_000, UNNAMED)).toBe(false);
});

it.each([
  ['alone', [0]],
  ['and again', [0, 50, 100_000]],
])('a closure shows no limit where nothing was accepted before: rejected %s', (_, sentAt) => {
  expect(new FirstStop(0).isSkipped(closed(0, ...sentAt), 130_000, UNNAMED)).toBe(true);
  expect(new FirstStop(0).isSkipped(closed(0, 0), 1_000, 1_000)).toBe(true);
});

it('the time of a closure that is left out does not count', () => {
  const first = new FirstStop(0);
  first.isSkipped(closed(0, 0, 60_000), 60_000, UNNAMED);
  expect(first.measure(100, 0, 61_000, 61_000)).toMatchObject({ perMs: 0.1, sinceMs: 1_000 });
});

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
  for (const attempt of attempts) closure.add(attempt, { accepted: 10, idleMs: 0, idles: 0 });
  return closure;
}

it('two closures that look like outages are left out; later ones show the limit', () => {
  const first = new FirstStop(0);
  const skipped = [100, 200, 300].map((at) => {
    return first.isSkipped(outage(at), at + 10, Number.NEGATIVE_INFINITY);
  });
  expect(skipped).toEqual([true, true, false]);
});

it('a first wait of minutes is left out; a second one shows a window', () => {
  const first = new FirstStop(0);
  const skipped = [10_000, 300_000].map((at) => {
    const sent = { at, order: at, others: 0, pacePerMs: 1, isPaced: true };
    const attempt = new SentAttempt({ ...sent, isSaved: false, idleMs: 0 });
    const closure = new Closure(attempt);
    closure.add(attempt, { accepted: 500, idleMs: 0, idles: 0 });
    return first.isSkipped(closure, at + 180_000, at + 180_000);
  });
  expect(skipped).toEqual([true, false]);
});

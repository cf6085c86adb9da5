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

import { expect, it } from 'vitest';
import { FleetRateLearner } from '../../../src/fleet/learning/fleet-rate-learner.ts';
import { learnedBy, type State, teach } from '../../../src/fleet/learning/learner-state.ts';
import type { Verdict } from '../../../src/model/feedback.ts';
import { seededRandom } from '../../../src/simulator/index.ts';

const none = { perMs: () => Number.POSITIVE_INFINITY, burst: () => 0 };
const BUSY: Verdict = { kind: 'overloaded', status: 503 };
const TOO_MANY: Verdict = { kind: 'throttled', status: 429 };
/** Of the limit, a bucket. */
const PER_MS = 0.02;

/** A provider that also rejects one in ten by chance. */
function provider(random: () => number) {
  let left = 5;
  let at = 0;
  return (now: number): Verdict => {
    left = Math.min(5, left + PER_MS * (now - at));
    at = now;
    if (random() < 0.1) return BUSY;
    if (left < 1) return TOO_MANY;
    left -= 1;
    return { kind: 'ok' };
  };
}

/** Sends attempts one after the other. @returns the rates after each */
function play(
  learner: FleetRateLearner,
  from: number,
  count: number,
  answer: (now: number) => Verdict,
) {
  const rates: number[] = [];
  let now = from;
  for (let n = 0; n < count; ) {
    const waitMs = learner.wait(now);
    if (waitMs > 0) {
      now += Math.min(waitMs, 1_000);
      continue;
    }
    const sending = learner.take(0, now);
    const verdict = answer(now);
    now += 1;
    if (verdict.kind === 'ok') learner.answered(sending, verdict, undefined, now);
    else learner.rejected(sending, verdict, now);
    rates.push(learner.outlook(1, now).perMs);
    n += 1;
  }
  return { now, rates };
}

it('other learners go on as those that they were taught by', () => {
  const mean = (rates: readonly number[]) =>
    rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  // What was in flight is not passed on, so each pair soon differs by chance.
  const pairs = Array.from({ length: 24 }, (_, seed) => {
    const learner = new FleetRateLearner(none);
    const { now } = play(learner, 0, 3_000, provider(seededRandom(seed)));
    const copy = new FleetRateLearner(none);
    teach(copy, JSON.parse(JSON.stringify(learnedBy(learner))) as State, now);
    learner.resume(now);
    const one = play(learner, now, 300, provider(seededRandom(seed + 100)));
    const other = play(copy, now, 300, provider(seededRandom(seed + 100)));
    return [mean(one.rates), mean(other.rates)] as const;
  });
  const ofOnes = mean(pairs.map(([one]) => one));
  const ofOthers = mean(pairs.map(([, other]) => other));
  expect(Math.abs(ofOthers / ofOnes - 1)).toBeLessThan(0.02);
  // The chance was found: the rate includes what is rejected whatever is sent.
  expect(ofOthers).toBeGreaterThan(1.02 * PER_MS);
});

/** The fields that a state leaves out, by path. */
function leftOut(object: object, state: State, path = ''): string[] {
  return Object.entries(object).flatMap(([name, value]) => {
    if (typeof value === 'function') return [];
    const known = (state as Readonly<Record<string, State>>)[name];
    if (known === undefined) return [path + name];
    const isNested = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isNested ? leftOut(value, known, `${path}${name}.`) : [];
  });
}

it('leaves out nothing but attempts on their way, and what the next answers set', () => {
  const learner = new FleetRateLearner(none);
  // Names are left out wherever they stand: a field of any part that is called so is lost.
  expect(leftOut(learner, learnedBy(learner)).sort()).toEqual([
    'cap.served.recent',
    'closed.named.mostMs',
    'log._unknown',
    'log.asked',
    'log.attempts',
    'log.head',
    'log.inFlight',
    'log.listener',
    'rate.demand.waitsUntil',
    'rate.estimate.burst.resumed',
    'rate.estimate.closure',
    'rate.estimate.hard',
    'rate.hard',
    'rate.units.requests',
    'reactions.reaction',
    'reactions.reactionMs',
    'reactions.reactsUntil',
  ]);
});

it('is JSON, also for values that JSON has no form for', () => {
  const state = learnedBy(new FleetRateLearner(none));
  expect(JSON.parse(JSON.stringify(state))).toEqual(state);
});

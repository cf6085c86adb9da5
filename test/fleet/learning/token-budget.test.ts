import { expect, it } from 'vitest';
import { FleetRateLearner } from '../../../src/fleet/learning/fleet-rate-learner.ts';
import { learnedBy, type State, teach } from '../../../src/fleet/learning/learner-state.ts';
import type { ReportedLimit } from '../../../src/model/feedback.ts';

const NONE = { perMs: () => Number.POSITIVE_INFINITY, burst: () => 0 };
const ESTIMATE = 1_000;
const USED = 2_000;

/** Headers of a window that lets 100 requests pass, of which `sent` were sent. */
function told(sent: number): ReportedLimit[] {
  const resetMs = 50_000;
  return [
    { unit: 'requests', limit: 500, remaining: 500 - sent, resetMs },
    { unit: 'tokens', limit: 100 * USED, remaining: (100 - sent) * USED, resetMs },
  ];
}

/** Requests that cost twice their estimates. */
function taught(): FleetRateLearner {
  const learner = new FleetRateLearner(NONE);
  for (let sent = 1; sent <= 20; sent += 1) {
    const attempt = learner.observed(ESTIMATE, sent, false, false);
    learner.answered(attempt, { kind: 'ok', limits: told(sent) }, { tokens: USED }, sent);
  }
  return learner;
}

it('what is left of a limit on tokens counts in requests of their real tokens', () => {
  expect(taught().left(ESTIMATE, 21)).toBeCloseTo(80);
});

it('the next leader knows how many tokens requests really use', () => {
  const learner = taught();
  const next = new FleetRateLearner(NONE);
  teach(next, JSON.parse(JSON.stringify(learnedBy(learner))) as State, 21);
  next.told(told(20), learner.knownLimits, 21);
  expect(next.left(ESTIMATE, 21)).toBeCloseTo(80);
});

it('a window of tokens whose end is not confirmed is tested by a whole request', () => {
  expect(taught().left(ESTIMATE, 52_000)).toBe(1);
});

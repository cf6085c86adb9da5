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
function taught(count = 20): FleetRateLearner {
  const learner = new FleetRateLearner(NONE);
  for (let sent = 1; sent <= count; sent += 1) {
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

it('a window with less left than a request needs is closed until it opens', () => {
  const learner = taught(98);
  expect(learner.outlook(ESTIMATE, 99).closedMs).toBe(0);
  const attempt = learner.observed(ESTIMATE, 99, false, false);
  const rest = told(99).map((limit) =>
    limit.unit === 'tokens' ? { ...limit, remaining: USED / 2 } : limit,
  );
  learner.answered(attempt, { kind: 'ok', limits: rest }, { tokens: USED }, 100);
  expect(learner.outlook(ESTIMATE, 110).closedMs).toBeGreaterThan(45_000);
});

it('a bucket with less left than a request needs is open: it is paced', () => {
  const learner = new FleetRateLearner(NONE);
  const limit = 100 * USED;
  const perMs = limit / 60_000;
  let used = 0;
  let now = 0;
  while (used < limit - USED / 2) {
    now += 300;
    used = Math.max(0, used - 300 * perMs) + USED;
    const resetMs = Math.ceil(used / perMs);
    const tokens: ReportedLimit = { unit: 'tokens', limit, remaining: limit - used, resetMs };
    const attempt = learner.observed(ESTIMATE, now, false, false);
    learner.answered(attempt, { kind: 'ok', limits: [tokens] }, { tokens: USED }, now + 1);
  }
  expect(learner.rate.units.tokens?.reported.refillsGradually).toBe(true);
  const { closedMs, budget } = learner.outlook(ESTIMATE, now + 2);
  expect(closedMs).toBe(0);
  expect(budget).toBeGreaterThan(1);
});

// The headers tell the end of a window of 50 s.
it('workers that go on alone send as many requests as the tokens of a window last for', () => {
  expect(taught().outlook(ESTIMATE, 21).alonePerMs * 60_000).toBeCloseTo(120, 0);
});

it('limits on input and on output tokens set no pace: workers report their sum', () => {
  const reactionMs = 100;
  const learner = new FleetRateLearner(NONE, undefined, undefined, 16, reactionMs);
  const limits: ReportedLimit[] = [
    { unit: 'requests', limit: 500, remaining: 499, resetMs: 50_000 },
    { unit: 'output-tokens', limit: 1_000, remaining: 1, resetMs: 50_000 },
  ];
  const attempt = learner.observed(ESTIMATE, 0, false, false);
  learner.answered(attempt, { kind: 'ok', limits }, { tokens: USED }, 1);
  expect(learner.rate.units.countTokens).toBe(false);
});

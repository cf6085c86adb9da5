import { expect, it } from 'vitest';
import { FleetLearner } from '../../../src/fleet/learning/fleet-learner.ts';
import { FleetRateLearner } from '../../../src/fleet/learning/fleet-rate-learner.ts';
import type { ReportedLimit, Verdict } from '../../../src/model/feedback.ts';

const NONE = { perMs: () => Number.POSITIVE_INFINITY, burst: () => 0 };
const LIMITS: readonly ReportedLimit[] = [{ unit: 'requests', limit: 60, remaining: 0 }];

it('leaves to the next leader the limits of accepted attempts, not those of rejections alone', () => {
  const leader = new FleetLearner(new FleetRateLearner(NONE));
  let id = 0;
  const end = (verdict: Verdict) => {
    id += 1;
    const second = id * 1_000_000;
    const report = [0, id, [id, 0, 0, 0], [[id, 0, 0, verdict, -1]]];
    leader.read([[second, 'worker', report as never]]);
    return (leader.state as { readonly told: unknown }).told;
  };
  expect(end({ kind: 'throttled', status: 429, limits: LIMITS })).toBeNull();
  expect(end({ kind: 'ok', limits: LIMITS })).toEqual({ at: 2_000, limits: LIMITS });
  expect(end({ kind: 'throttled', status: 429, limits: LIMITS })).toMatchObject({ at: 2_000 });
});

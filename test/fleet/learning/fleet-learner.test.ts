import { describe, expect, it } from 'vitest';
import { TOLD } from '../../../src/fleet/learning/attempt-reports.ts';
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
  expect(end({ kind: 'ok', limits: LIMITS })).toMatchObject({ at: 2_000, limits: LIMITS });
  expect(end({ kind: 'throttled', status: 429, limits: LIMITS })).toMatchObject({ at: 2_000 });
});

it('leaves out what is no report, whoever has written it', () => {
  const limits = [{ unit: 'requests', limit: 'all' }];
  const verdicts = [null, 'ok', [], {}, { kind: 'none' }, { kind: 'ok', limits: 1 }];
  const results = [...verdicts, { kind: 'ok', limits }, { kind: 'throttled', retryAfterMs: '1' }];
  const reports = [
    ...[null, {}, 'x', 1, [], [0, 1], [0, 1, {}, []], [0, 1, ['1'], []], [0, 1, [], {}]],
    ...[
      [0, 1, [], [null]],
      [0, 1, [], [[1, 2]]],
      [0, 1, [], [], 1],
    ],
    ...results.map((verdict) => [0, 1, [1, 0, 0, 1], [[1, 0, 0, verdict, -1]]]),
    ...results.map((verdict) => [0, 1, [1, 0, 0, 1], [], [[1, 0, 0, verdict]]]),
  ];
  const entries = [null, {}, 'x', [], [1], ['1', 'worker', 0], [1, 2, 0]];
  const read = (...rubbish: readonly unknown[]) => {
    const leader = new FleetLearner(new FleetRateLearner(NONE));
    const report = [1, 2, [1, 5, 0, 1, 2, 5, 0, 1], [[1, 5, 0, 0, 3]]];
    leader.read([...rubbish, [1_000_000, 'other', report]] as never);
    return [leader.plan(1_000), leader.state];
  };
  const known = read();
  for (const entry of [...entries, ...reports.map((report) => [1_000, 'evil', report])]) {
    expect(read(entry), JSON.stringify(entry)).toEqual(known);
  }
});

it('counts the attempts in flight that an earlier leader recorded', () => {
  const leader = new FleetLearner(new FleetRateLearner(NONE));
  const read = (...report: readonly unknown[]) => {
    leader.read([[1_000_000, 'worker', report as never]]);
  };
  const others = () => {
    const sent = leader.learner.observed(1, 1_000, false, false);
    leader.learner.withdrawn(sent, false, 1_000);
    return sent.others;
  };
  // It has 30 in flight, of which it sent two just now.
  read(30, 1, [29, 10, 0, 1, 30, 10, 0, 1], []);
  expect(others()).toBe(30);
  // One of them, and one of the others, have ended.
  read(
    28,
    2,
    [],
    [
      [30, 500, 0, 0, -1],
      [1, 90_000, 0, 0, -1],
    ],
  );
  expect(others()).toBe(28);
  // A report tells of what it had in flight before, too.
  leader.read([[1_000_000, 'other', [5, 8, [], [[7, 500, 0, 0, -1]]] as never]]);
  expect(others()).toBe(33);
  leader.read([[1_000_000, 'other', 0]]);
  leader.read([[1_000_000, 'worker', 0]]);
  expect(others()).toBe(0);
});

it('leaves to the next leader that the end of a limit moves with each request', () => {
  let leader = new FleetLearner(new FleetRateLearner(NONE));
  const isExact = () => leader.learner.rate.units.requests.reported.isExact;
  for (let id = 1; id <= 4; id += 1) {
    const limits = [{ unit: 'requests', limit: 60, remaining: 60 - id, resetMs: 60_000 }];
    const report = [0, id, [id, 0, 0, 0], [[id, 0, 0, { kind: 'ok', limits }, -1]]];
    expect(isExact()).toBe(id < 4 && id > 1);
    leader.read([[id * 7_000_000, 'worker', report as never]]);
    // Each of them leads for one request.
    const next = new FleetLearner(new FleetRateLearner(NONE));
    expect(next.restore(leader.state, id * 7_000)).toBe(true);
    leader = next;
  }
  expect(isExact()).toBe(false);
});

it('leaves to the next leader the share of a limit, and not one that was measured for a while', () => {
  let leader = new FleetLearner(new FleetRateLearner(NONE));
  const { units } = leader.learner.rate;
  // While a window fills, nothing comes back: that would be measured as its rate.
  for (let id = 1; id <= 40; id += 1) {
    const limits = [{ unit: 'requests', limit: 60, remaining: 60 - id, resetMs: 60_000 }];
    const report = [0, id, [id, 0, 0, 0], [[id, 0, 0, { kind: 'ok', limits }, -1]]];
    leader.read([[id * 500_000, 'worker', report as never]]);
  }
  const { perMs } = units.requests.reported.share;
  const next = new FleetLearner(new FleetRateLearner(NONE));
  next.restore(leader.state, 20_000);
  leader = next;
  expect(perMs).toBeGreaterThan(60 / 60_000);
  expect(leader.learner.rate.units.requests.reported.share.perMs).toBe(perMs);
});

describe('an answer that goes on', () => {
  const BEGUN: Verdict = {
    kind: 'ok',
    limits: [{ unit: 'requests', limit: 60, remaining: 50 }],
  };
  const budgetOf = (leader: FleetLearner) => leader.plan(1_000).budget;

  /** A leader that reads that a worker has sent ten attempts, of which one has begun. */
  function reader() {
    const leader = new FleetLearner(new FleetRateLearner(NONE));
    const read = (...report: readonly unknown[]) => {
      leader.read([[1_000_000, 'worker', report as never]]);
      return budgetOf(leader);
    };
    const sends = Array.from({ length: 10 }, (_, place) => [place + 1, 1_000, 0, 1]).flat();
    return { leader, read, sends };
  }

  it('counts when it begins, and once', () => {
    const { read, sends } = reader();
    const before = read(10, 1, sends, []);
    const begun = read(10, 1, [], [], [[1, 1_000, 0, 0]]);
    expect(begun).toBeGreaterThan(before);
    expect(read(9, 2, [], [[1, 1_000, 0, TOLD, -1]])).toBe(begun);
    // Another one counts as much.
    expect(read(8, 3, [], [[2, 1_000, 0, 0, -1]]) - begun).toBe(begun - before);
  });

  it('counts at its end if its beginning was not heard of', () => {
    const { read, sends } = reader();
    const before = read(10, 1, sends, []);
    expect(read(9, 2, [], [[1, 1_000, 0, TOLD, -1]])).toBeGreaterThan(before);
  });

  it('counts once for a leader that has not heard of its sending', () => {
    const { read, sends } = reader();
    const before = read(11, 1, sends, []);
    const begun = read(11, 1, [], [], [[11, 1_000, 0, 0]]);
    expect(begun).toBeGreaterThan(before);
    expect(read(10, 1, [], [[11, 1_000, 0, TOLD, -1]])).toBe(begun);
  });

  it('tells its limits, also to the next leader', () => {
    const { leader, read, sends } = reader();
    // What is left may be sent at once, as in one process.
    expect(read(10, 1, sends, [], [[1, 1_000, 0, BEGUN]])).toBe(50 - 10);
    expect(leader.state).toMatchObject({ told: { at: 1_000, limits: BEGUN.limits } });
  });

  it('may still be rejected', () => {
    const { leader, read, sends } = reader();
    read(10, 1, sends, [], [[1, 1_000, 0, 0]]);
    expect(leader.hasNews).toBe(false);
    const { inFlight } = leader.learner['log' as never] as { inFlight: number };
    leader.read([
      [1_000_000, 'worker', [9, 2, [], [[1, 1_000, 0, { kind: 'throttled' }, -1]]] as never],
    ]);
    expect(leader.hasNews).toBe(true);
    expect((leader.learner['log' as never] as { inFlight: number }).inFlight).toBe(inFlight - 1);
  });
});

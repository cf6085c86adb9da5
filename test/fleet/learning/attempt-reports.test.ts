import { assert, describe, expect, it } from 'vitest';
import { AttemptReports, TOLD } from '../../../src/fleet/learning/attempt-reports.ts';
import type { Verdict } from '../../../src/model/feedback.ts';
import type { CompletedAttempt } from '../../../src/policies/policy.ts';

const OK = { isSent: true, verdict: { kind: 'ok' }, tokens: 1, bytes: 1 } as const;

it('keeps the latest reports while the store is away for long', () => {
  const reports = new AttemptReports();
  for (let at = 0; at < 20_000; at += 1) reports.ended(reports.sent(0, 1, at), OK as never, at);
  const taken = reports.take(20_000);
  assert(taken !== undefined);
  const [inFlight, first, sends, ends] = taken.report as [number, number, number[], number[][]];
  expect(inFlight).toBe(0);
  expect(first).toBe(20_001);
  expect(sends.length / 4).toBeLessThan(4_000);
  expect(sends.length / 4).toBeGreaterThanOrEqual(2_000);
  expect(ends.length).toBeLessThan(4_000);
  expect(sends.at(-4)).toBe(20_000);
  expect(ends.at(-1)?.[0]).toBe(20_000);
});

describe('an answer that goes on', () => {
  const limits = (remaining: number): Verdict => ({
    kind: 'ok',
    limits: [{ unit: 'requests', limit: 60, remaining }],
  });
  const end = (verdict: Verdict | undefined, tokens?: number) =>
    ({ ...OK, verdict, usage: tokens && { tokens } }) as unknown as CompletedAttempt;
  const reportOf = (reports: AttemptReports, now: number) => reports.take(now)?.report;

  it('is told once when it begins, with its limits, and not again at its end', () => {
    const reports = new AttemptReports();
    const attempt = reports.sent(0, 1, 0);
    expect(reports.begun(attempt, limits(9), 2)).toBe(true);
    expect(reports.begun(attempt, limits(8), 3)).toBe(false);
    const begin = [1, 5_000, 3_000, limits(9)];
    expect(reportOf(reports, 5)).toEqual([1, 1, [1, 5_000, 0, 1], [], [begin]]);
    expect(reports.ended(attempt, end(limits(9), 7), 10)).toBe(false);
    expect(reportOf(reports, 10)).toEqual([0, 2, [], [[1, 10_000, 0, TOLD, 7]]]);
  });

  it('is not told after its end', () => {
    const reports = new AttemptReports();
    const attempt = reports.sent(0, 1, 0);
    reports.ended(attempt, end(limits(9)), 2);
    expect(reports.begun(attempt, limits(9), 2)).toBe(false);
    expect(reportOf(reports, 2)).toHaveLength(4);
  });

  it('may still be rejected, or be cut off: it was accepted all the same', () => {
    const reports = new AttemptReports();
    const attempts = [reports.sent(0, 1, 0), reports.sent(0, 1, 0)] as const;
    for (const attempt of attempts) reports.begun(attempt, { kind: 'ok' }, 1);
    const throttled: Verdict = { kind: 'throttled' };
    expect(reports.ended(attempts[0], end(throttled), 2)).toBe(true);
    expect(reports.ended(attempts[1], end(undefined), 2)).toBe(false);
    expect(reportOf(reports, 2)).toMatchObject({
      3: [
        [1, 2_000, 0, throttled, -1],
        [2, 2_000, 0, TOLD, -1],
      ],
      4: [
        [1, 2_000, 1_000, 0],
        [2, 2_000, 1_000, 0],
      ],
    });
  });

  it('tells its limits if they are the last ones, of all answers of a call', () => {
    const reports = new AttemptReports();
    const [one, two, three] = [0, 0, 0].map((at) => reports.sent(0, 1, at));
    assert(one && two && three);
    reports.begun(one, limits(9), 1);
    reports.ended(two, end(limits(8)), 2);
    reports.ended(one, end(limits(9)), 3);
    expect(reportOf(reports, 3)).toMatchObject({
      3: [
        [2, 3_000, 1_000, limits(8), -1],
        [1, 3_000, 0, TOLD, -1],
      ],
      4: [[1, 3_000, 2_000, 0]],
    });
    reports.begun(three, limits(7), 4);
    expect(reportOf(reports, 4)).toMatchObject({ 3: [], 4: [[3, 4_000, 0, limits(7)]] });
  });
});

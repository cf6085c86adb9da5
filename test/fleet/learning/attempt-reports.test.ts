import { assert, expect, it } from 'vitest';
import { AttemptReports } from '../../../src/fleet/learning/attempt-reports.ts';

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

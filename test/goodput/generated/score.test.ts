import { describe, expect, it } from 'vitest';
import { scoreOf } from '../../../bench/goodput/generated/score.ts';
import { drawScenario } from '../../../bench/goodput/generated/space.ts';

const MINUTE_MS = 60_000;
const base = { ...drawScenario(1), horizonMs: 600_000, latencyMs: 90, networkMs: 5 };
const saturated = { ...base, load: 'saturated' } as const;
const bursts = { ...base, load: 'bursts' } as const;
const times = (count: number, fromMs = 0, stepMs = 1) =>
  Array.from({ length: count }, (_, index) => fromMs + index * stepMs);

describe('the score', () => {
  it('is what was let in before the end, in % of the omniscient schedule', () => {
    const log = { accepted: [...times(50), ...times(30, 600_000)], rejected: [1, 2, 700_000] };
    const score = scoreOf(saturated, [], times(200), log);
    expect(score).toMatchObject({ goodput: 25, accepted: 50, rejected: 2, rejectedPerMille: 40 });
  });

  it('counts rejections where nothing was let in', () => {
    const score = scoreOf(saturated, [], times(2), { accepted: [], rejected: times(3) });
    expect(score).toMatchObject({ goodput: 0, rejectedPerMille: 3_000 });
  });

  describe('of bursts', () => {
    const arrivals = [0, 0, 1_000, 1_000];
    const bound = [0, 100, 1_000, 1_100];

    it('is the time that the last of each burst takes, network and answer included', () => {
      // 100 ms to send and 100 ms to come back, twice; the client takes 400 ms more each time.
      const accepted = [5, 505, 1_005, 1_505];
      const { goodput } = scoreOf(bursts, arrivals, bound, { accepted, rejected: [] });
      expect(goodput).toBeCloseTo(100 * (400 / 1_200), 9);
    });

    it('is all for a client that is as fast', () => {
      const accepted = bound.map((at) => at + base.networkMs);
      const { goodput } = scoreOf(bursts, arrivals, bound, { accepted, rejected: [] });
      expect(goodput).toBe(100);
    });

    it('takes what was never let in for three runs late', () => {
      const { goodput } = scoreOf(bursts, [0], [0], { accepted: [], rejected: [] });
      expect(goodput).toBeCloseTo((100 * 100) / (3 * 600_000 + 95), 9);
    });

    it('counts what was let in after the end', () => {
      const log = { accepted: times(4, 700_000), rejected: [] };
      expect(scoreOf(bursts, arrivals, bound, log).accepted).toBe(4);
    });
  });

  describe('calls a minute flooded', () => {
    const floods = (rejected: number[], accepted: number[] = []) =>
      scoreOf(saturated, [], times(1), { accepted, rejected }).floodedMinutes;

    it('from the seventh rejection on, after the first ten seconds', () => {
      expect(floods(times(6, 10_000))).toBe(0);
      expect(floods(times(7, 10_000))).toBe(1);
      expect(floods(times(500, 0))).toBe(0);
      expect(floods([...times(7, 10_000), ...times(7, 10_000 + MINUTE_MS)])).toBe(2);
    });

    it('where they are more than 3 % of what was let in', () => {
      expect(floods(times(30, 20_000), times(1_000, 20_000))).toBe(0);
      expect(floods(times(31, 20_000), times(1_000, 20_000))).toBe(1);
    });
  });
});

import { describe, expect, it } from 'vitest';
import { changeOf } from '../../../bench/goodput/generated/change.ts';
import { describeScenario } from '../../../bench/goodput/generated/describe.ts';
import { arrivalsOf } from '../../../bench/goodput/generated/load.ts';
import {
  CHANGES,
  drawScenario,
  HEADERS,
  KINDS,
  LOADS,
  OUTAGES,
  type Scenario,
} from '../../../bench/goodput/generated/space.ts';
import { holds } from '../../support/holds.ts';

const SEEDS = 3_000;
const scenarios = Array.from({ length: SEEDS }, (_, seed) => drawScenario(seed));
/** Whole requests a window or in flight: the smallest limits move their rate by so much. */
const ROUNDING = 1.5;

/** The share of scenarios with a property. */
function part(holds: (scenario: Scenario) => boolean): number {
  return scenarios.filter(holds).length / SEEDS;
}

describe('a drawn provider', () => {
  it('depends on its seed alone, and differs from its neighbours', () => {
    expect(drawScenario(7)).toEqual(drawScenario(7));
    expect(new Set(scenarios.map(({ latencyMs }) => latencyMs)).size).toBe(SEEDS);
  });

  it.each<[string, (scenario: Scenario) => number, number, number]>([
    ['network delay', ({ networkMs }) => networkMs, 1, 80],
    ['rejection time', ({ rejectionMs }) => rejectionMs, 5, 5_000],
    ['latency', ({ latencyMs }) => latencyMs, 5, 60_000],
    ['latency jitter', ({ latencySigma }) => latencySigma, 0.05, 0.8],
    ['bias of estimates', ({ estimateBias }) => estimateBias, 0.5, 2],
    ['phase', ({ phase }) => phase, 0, 1],
    ['load of bursts', ({ burstLoad }) => burstLoad, 0.2, 0.8],
    ['window', ({ windowMs }) => windowMs, 500, 3_600_000],
  ])('has a %s within its bounds, and uses them', (_, figure, least, most) => {
    const figures = scenarios.map(figure);
    expect(Math.min(...figures)).toBeGreaterThanOrEqual(least);
    expect(Math.max(...figures)).toBeLessThanOrEqual(most);
    expect(Math.min(...figures)).toBeLessThan(least + 0.1 * (most - least));
    expect(Math.max(...figures)).toBeGreaterThan(most - 0.1 * (most - least));
  });

  it('has rates, windows, bursts and run times that go together', () => {
    for (const scenario of scenarios) {
      const { kind, perMs, windowMs, limit, burst, latencyMs, horizonMs, outageMs } = scenario;
      const openMs = horizonMs - outageMs;
      const text = describeScenario(scenario);
      holds(Number.isInteger(limit), limit, text);
      holds(limit >= 1, limit, text);
      holds(perMs <= 2 * ROUNDING, perMs, text);
      if (kind !== 'cap') {
        holds(perMs >= 1 / 60_000 / ROUNDING, perMs, text);
        holds(Math.abs(perMs * windowMs - limit) < 5e-7, perMs * windowMs, limit, text);
        holds(limit >= 2 && limit <= 2_000, limit, text);
        holds(openMs >= 5 * windowMs * (1 - 1e-9), openMs, windowMs, text);
      }
      holds(burst >= 1 && burst <= Math.max(1, 2 * limit), burst, limit, text);
      holds(latencyMs * perMs <= 1_500 * ROUNDING, latencyMs, perMs, text);
      holds(openMs >= 25 * latencyMs * (1 - 1e-9), openMs, latencyMs, text);
      holds(scenario.requests >= 1_499, scenario.requests, text);
      const longest = 5 * windowMs + 25 * latencyMs + 20_001 / perMs;
      holds(openMs <= longest, openMs, longest, text);
    }
  });

  it('has an outage of 20 to 120 s in the middle of its run, or none', () => {
    for (const { outage, outageMs, outageFromMs, horizonMs } of scenarios) {
      if (outage === 'none') expect(outageMs).toBe(0);
      else {
        expect(outageMs).toBeGreaterThanOrEqual(20_000);
        expect(outageMs).toBeLessThanOrEqual(120_000);
        expect(outageFromMs + outageMs).toBeLessThan(horizonMs);
      }
    }
  });

  it.each<[string, number, (scenario: Scenario) => boolean]>([
    ['tells nothing', 0.4, ({ headers }) => headers === 'nothing'],
    ['counts rejections', 0.3, ({ countsRejected }) => countsRejected],
    ['is saturated', 0.6, ({ load }) => load === 'saturated'],
    ['has bursts', 0.25, ({ load }) => load === 'bursts'],
    ['does not change', 0.55, ({ change }) => change === 'none'],
    ['has outages by 503', 0.1, ({ outage }) => outage === '503'],
    ['has outages by 429', 0.15, ({ outage }) => outage === '429'],
  ])('%s in its share of cases', (_, share, holds) => {
    // Four standard deviations of so many draws.
    const error = 4 * Math.sqrt((share * (1 - share)) / SEEDS);
    expect(Math.abs(part(holds) - share)).toBeLessThan(error);
  });

  it('takes every value there is of each trait', () => {
    const values = (of: (scenario: Scenario) => string) => [...new Set(scenarios.map(of))].sort();
    expect(values(({ kind }) => kind)).toEqual([...KINDS].sort());
    expect(values(({ headers }) => headers)).toEqual([...HEADERS].sort());
    expect(values(({ load }) => load)).toEqual([...LOADS].sort());
    expect(values(({ change }) => change)).toEqual([...CHANGES].sort());
    expect(values(({ outage }) => outage)).toEqual([...OUTAGES].sort());
  });
});

describe('the limit that changes', () => {
  const bounds = {
    none: [1, 1],
    halved: [0.5, 1],
    steps: [0.4, 1.6],
    drift: [0.7, 1.3],
    tenants: [0.6, 1],
  } as const;

  it.each(CHANGES)('reaches the bounds of %s and goes no further', (change) => {
    const scenario = { ...drawScenario(1), change, horizonMs: 3_000 };
    const share = changeOf(scenario);
    const factors = Array.from({ length: 3_000 }, (_, now) => share.at(now));
    const [least, most] = bounds[change];
    expect(Math.min(...factors)).toBeCloseTo(least, 4);
    expect(Math.max(...factors)).toBeCloseTo(most, 4);
  });

  it.each(CHANGES)('has the integral that belongs to it: %s', (change) => {
    const share = changeOf({ ...drawScenario(1), change, horizonMs: 3_000 });
    let sum = 0;
    for (let now = 0; now < 4_000; now += 1) {
      sum += share.at(now + 0.5);
      expect(share.until(now + 1)).toBeCloseTo(sum, 2);
    }
  });
});

describe('the requests of a run', () => {
  it('arrive in order, within the run', () => {
    for (const scenario of scenarios.slice(0, 60)) {
      const arrivals = arrivalsOf(scenario);
      expect(arrivals.every((at, index) => at >= (arrivals[index - 1] ?? 0))).toBe(true);
      expect(arrivals.at(-1)).toBeLessThan(scenario.horizonMs);
    }
  });

  it('come in at least four bursts, of a fifth of the limit and more, with idle time between', () => {
    const bursts = scenarios.filter(({ load }) => load === 'bursts');
    for (const scenario of bursts) {
      const { burstRequests, burstLoad, limit, perMs, horizonMs, outageMs } = scenario;
      const text = describeScenario(scenario);
      const periodMs = burstRequests / (burstLoad * perMs);
      // Whole requests: the smallest bursts are longer by so much.
      const rounded = 1 + 0.5 / burstRequests;
      holds((horizonMs - outageMs) / periodMs > 4 / rounded - 1e-3, periodMs, text);
      holds(burstRequests >= Math.max(2, Math.floor(limit / 5)), burstRequests, limit, text);
      holds(burstRequests / perMs < periodMs, burstRequests, periodMs, text);
    }
    const perLimit = bursts.map(({ burstRequests, limit }) => burstRequests / limit);
    expect(Math.min(...perLimit)).toBeLessThan(0.25);
    expect(Math.max(...perLimit)).toBeGreaterThan(100);
  });

  it('are at hand from the start, and more than are let in, where the load is saturated', () => {
    const scenario = scenarios.find(({ load }) => load === 'saturated');
    const arrivals = arrivalsOf(scenario ?? drawScenario(0));
    expect(arrivals.length).toBeGreaterThan(1.5 * (scenario?.requests ?? 0));
    expect(arrivals.at(-1)).toBe(0);
  });
});

import { expect, it } from 'vitest';
import type { Scenario } from '../../bench/goodput/generated/space.ts';
import { memoryStore } from '../../src/fleet/memory-store.ts';
import type { SharedStore } from '../../src/fleet/shared-store.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { isLong } from '../support/runs.ts';
import { Crowd, provider } from './learning-rig.ts';

/** What a fleet may lose against one process on the same provider. */
interface Bounds {
  /** Goodput, in points of what an omniscient client gets. */
  readonly points: number;
  /** 429s: so many times as many, and so many more of 1,000. */
  readonly times: number;
  readonly more: number;
}

interface Case {
  readonly said: Partial<Scenario>;
  readonly bounds: Bounds;
}

const HORIZON_MS = 30_000;

/** A rate of so many requests a second, with a window of so many seconds. */
function rate(perSecond: number, seconds: number): Partial<Scenario> {
  const limit = Math.round(perSecond * seconds);
  return {
    perMs: perSecond / 1_000,
    windowMs: 1_000 * seconds,
    limit,
    burst: Math.round(0.4 * perSecond),
    requests: Math.round((perSecond * HORIZON_MS) / 1_000),
  };
}

const USUAL: Bounds = { points: 3, times: 2, more: 25 };

/** What is known to be worse: while a plan is on its way to all, requests go by the one before. */
const LATE: Bounds = { points: 3, times: 4, more: 60 };

const CASES: Readonly<Record<string, Case>> = {
  'a bucket': { said: { kind: 'token-bucket', ...rate(50, 2) }, bounds: USUAL },
  'headers of a bucket': {
    said: { kind: 'token-bucket', headers: 'openai', ...rate(50, 2) },
    bounds: USUAL,
  },
  'headers of a window': {
    said: { kind: 'aligned-window', headers: 'ietf', ...rate(50, 10) },
    bounds: USUAL,
  },
  'requests and tokens': { said: { kind: 'requests-and-tokens', ...rate(50, 2) }, bounds: USUAL },
  'an outage': {
    said: {
      kind: 'token-bucket',
      ...rate(50, 2),
      outage: '503',
      outageFromMs: 10_000,
      outageMs: 10_000,
    },
    bounds: { ...USUAL, points: 5 },
  },
  'a cap on requests in flight': {
    said: {
      kind: 'cap',
      limit: 20,
      perMs: 20 / 300,
      burst: 20,
      requests: Math.round((20 * HORIZON_MS) / 300),
    },
    bounds: { points: 15, times: 2, more: 60 },
  },
  'a sliding log': {
    said: { kind: 'sliding-log', ...rate(50, 5) },
    bounds: { points: 8, times: 4, more: 60 },
  },
  'a sliding counter': {
    said: { kind: 'sliding-counter', ...rate(50, 5) },
    bounds: { points: 35, times: 4, more: 150 },
  },
  'a fast bucket': { said: { kind: 'token-bucket', ...rate(300, 2) }, bounds: LATE },
};

/** A provider of that kind, with a way and answers that a seed draws. */
function drawn(seed: number, said: Partial<Scenario>): Scenario {
  const random = seededRandom(seed);
  return provider(seed, {
    latencyMs: 200 + 200 * random(),
    latencySigma: 0.2 + 0.2 * random(),
    networkMs: 5 + 10 * random(),
    networkJitter: 0.2,
    rejectionMs: 10 + 20 * random(),
    countsRejected: false,
    horizonMs: HORIZON_MS,
    ...said,
  });
}

function figuresOf(scenario: Scenario, count: number) {
  let store: SharedStore | undefined;
  const crowd = new Crowd(scenario, count, (clock) => {
    store ??= memoryStore({ clock });
    return store;
  });
  crowd.run(scenario.horizonMs);
  return crowd.figures();
}

function alone(scenario: Scenario) {
  const crowd = new Crowd(scenario, 1);
  crowd.run(scenario.horizonMs);
  return crowd.figures();
}

const COUNTS = isLong ? [2, 8] : [8];

for (const [name, { said, bounds }] of Object.entries(CASES)) {
  it(`a fleet on ${name} learns about what one process learns`, () => {
    const scenario = drawn(1, said);
    const one = alone(scenario);
    for (const count of COUNTS) {
      const all = figuresOf(scenario, count);
      const what = `${count} workers`;
      expect(all.goodput, what).toBeGreaterThan(one.goodput - bounds.points);
      expect(all.perMille, what).toBeLessThan(bounds.times * one.perMille + bounds.more);
      expect(all.jain, what).toBeGreaterThan(0.85);
    }
  });
}

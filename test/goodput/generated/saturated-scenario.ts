import { drawScenario, type Scenario } from '../../../bench/goodput/generated/space.ts';

const WINDOWS = 90;

/** A provider whose limit is used up all the time. @param more what is not as drawn or usual */
export function saturatedScenario(seed: number, more: Partial<Scenario>): Scenario {
  const { limit = 40, windowMs = 10_000 } = more;
  return {
    ...drawScenario(seed),
    kind: 'sliding-log',
    limit,
    windowMs,
    perMs: limit / windowMs,
    burst: limit,
    phase: 0.4,
    latencyMs: 800,
    latencySigma: 0.4,
    networkMs: 20,
    networkJitter: 0.2,
    rejectionMs: 300,
    countsRejected: false,
    load: 'saturated',
    change: 'none',
    outage: 'none',
    outageFromMs: 0,
    outageMs: 0,
    horizonMs: WINDOWS * windowMs,
    ...more,
  };
}

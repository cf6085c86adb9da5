/** Changes of a generated provider's limit during a run. */
import type { Scenario } from './space.ts';

/** The share of its limit that a provider grants. */
export interface Share {
  /** The share at a time in ms. */
  at(now: number): number;
  /**
   * The integral of the share from 0 to a time: a refill does not depend on when it is computed.
   */
  until(now: number): number;
}

/** The number of cycles of a drift, or of the other tenants' demand, in a run. */
const WAVES = 3;

/** The full limit, without change. */
export const WHOLE: Share = { at: () => 1, until: (now) => now };

export function changeOf({ change, horizonMs }: Scenario): Share {
  switch (change) {
    case 'none':
      return WHOLE;
    case 'halved':
      return thirds(horizonMs, [1, 0.5, 1]);
    case 'steps':
      return thirds(horizonMs, [1, 0.4, 1.6]);
    case 'drift':
      return wave(horizonMs, 1, 0.3);
    case 'tenants':
      return wave(horizonMs, 0.8, -0.2);
  }
}

/** One share for each third of the run; the last share also applies afterwards. */
function thirds(horizonMs: number, shares: readonly [number, number, number]): Share {
  const [first, second, last] = shares;
  const third = horizonMs / 3;
  return {
    at: (now) => (now < third ? first : now < 2 * third ? second : last),
    until: (now) =>
      first * Math.min(now, third) +
      second * Math.min(third, Math.max(0, now - third)) +
      last * Math.max(0, now - 2 * third),
  };
}

function wave(horizonMs: number, mean: number, height: number): Share {
  const perMs = (2 * Math.PI * WAVES) / horizonMs;
  return {
    at: (now) => mean + height * Math.sin(perMs * now),
    until: (now) => mean * now + (height / perMs) * (1 - Math.cos(perMs * now)),
  };
}

/**
 * The limits of a scenario as plain figures, for the server and for clients that know the limits.
 */
import type { Scenario } from './space.ts';

export type Unit = 'requests' | 'tokens' | 'concurrency';

export type LimitSpec =
  | {
      readonly algorithm: 'bucket';
      readonly unit: 'requests' | 'tokens';
      readonly perMs: number;
      readonly burst: number;
    }
  | {
      readonly algorithm: 'aligned-window' | 'first-charge-window' | 'log' | 'counter';
      readonly unit: 'requests';
      readonly limit: number;
      readonly windowMs: number;
    }
  | { readonly algorithm: 'cap'; readonly unit: 'concurrency'; readonly limit: number };

/** The mean and the largest number of tokens of a request. */
export const MEAN_TOKENS = 100;
export const MOST_TOKENS = 20 * MEAN_TOKENS;
/** The ratio of the longer of two windows to the shorter. */
const LONGER = 8;

export function limitSpecs(scenario: Scenario): readonly LimitSpec[] {
  const { kind, limit, windowMs, perMs, burst, secondRatio } = scenario;
  const window = { unit: 'requests', limit, windowMs } as const;
  const bucket = { algorithm: 'bucket', unit: 'requests', perMs, burst } as const;
  switch (kind) {
    case 'token-bucket':
    case 'gcra':
      return [bucket];
    case 'aligned-window':
    case 'first-charge-window':
      return [{ ...window, algorithm: kind }];
    case 'sliding-log':
      return [{ ...window, algorithm: 'log' }];
    case 'sliding-counter':
      return [{ ...window, algorithm: 'counter' }];
    case 'cap':
      return [{ algorithm: 'cap', unit: 'concurrency', limit }];
    case 'two-limits': {
      const long = Math.max(limit, Math.round(LONGER * limit * Math.min(1, secondRatio)));
      return [
        { ...bucket, burst: Math.max(1, burst / 4) },
        { ...window, algorithm: 'log', limit: long, windowMs: LONGER * windowMs },
      ];
    }
    case 'requests-and-tokens': {
      const tokensPerMs = perMs * MEAN_TOKENS * secondRatio;
      const most = Math.max(MOST_TOKENS, tokensPerMs * windowMs);
      return [bucket, { algorithm: 'bucket', unit: 'tokens', perMs: tokensPerMs, burst: most }];
    }
  }
}

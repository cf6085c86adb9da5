import type { RateBounds } from './congestion-samples.ts';
import { isWide, rateBetween } from './next-rate.ts';

/**
 * This number of accepted attempts beyond those that the measured rate explains shows that it has
 * grown.
 */
const UNEXPLAINED = 6;

/** A rate that replaces the measured one, per ms. */
export interface OutgrownRate {
  readonly perMs: number;
  /** Whether the measured bounds are disproved, so that the provider's rate has changed. */
  readonly isDisproved: boolean;
}

/**
 * The rate that the attempts accepted since the last closure show.
 * @param perMs the measured rate
 * @param bounds its bounds; undefined: there was only one closure
 * @param accepted the attempts accepted in `spanMs`
 * @returns undefined if the measured rate explains them
 */
export function outgrownRate(
  perMs: number,
  bounds: RateBounds | undefined,
  accepted: number,
  spanMs: number,
): OutgrownRate | undefined {
  const { least, most } = bounds ?? { least: perMs, most: perMs };
  // The last one may be accepted from capacity that was left before.
  const leastPerMs = (accepted - 1) / spanMs;
  if (leastPerMs <= perMs) return undefined;
  if (accepted > Math.max(most, perMs) * spanMs + UNEXPLAINED) {
    return { perMs: leastPerMs, isDisproved: true };
  }
  if (!isWide(least, most)) return undefined;
  return { perMs: rateBetween(leastPerMs, most), isDisproved: false };
}

import type { Dimension, RateOrigin } from './dimension.ts';

/** What is in force of one thing that a provider counts. */
export interface DimensionSnapshot {
  /** As many a second may be sent; Infinity: nothing bounds them yet. */
  readonly perSecond: number;
  readonly origin: RateOrigin;
  /** What the provider accepted at the last congestion; undefined before the first. */
  readonly ceilingPerSecond: number | undefined;
}

/** What is in force of the rate of requests. */
export interface RateSnapshot extends DimensionSnapshot {
  /** The same for tokens; undefined where nothing counts them. */
  readonly tokens: DimensionSnapshot | undefined;
  /** Whether the provider lets nothing in, and single probes go. */
  readonly isOut: boolean;
  /** Since the rate was last measured anew; undefined: it never was. */
  readonly sinceCutMs: number | undefined;
}

/** Where nothing is known, and nothing is counted. */
export const NOTHING_KNOWN: RateSnapshot = {
  perSecond: Number.POSITIVE_INFINITY,
  origin: 'start',
  ceilingPerSecond: undefined,
  tokens: undefined,
  isOut: false,
  sinceCutMs: undefined,
};

export function snapshotOf({ ratePerMs, origin, ceilingPerMs }: Dimension): DimensionSnapshot {
  return {
    perSecond: ratePerMs * 1_000,
    origin,
    ceilingPerSecond: ceilingPerMs === undefined ? undefined : ceilingPerMs * 1_000,
  };
}

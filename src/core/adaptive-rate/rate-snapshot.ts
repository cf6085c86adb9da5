import type { RateOrigin } from './unit-rate.ts';

/** What is in force of one thing that a provider counts. */
export interface UnitSnapshot {
  /** As many a second may be sent; Infinity: nothing bounds them yet. */
  readonly perSecond: number;
  readonly origin: RateOrigin;
}

/** What is believed of the provider, and why. */
export interface RateSnapshot extends UnitSnapshot {
  /** What was measured at the last rejection, requests a second; undefined before the first. */
  readonly ceilingPerSecond: number | undefined;
  /** Bounds of that, and the accepted attempts that it rests on; undefined before two rejections. */
  readonly leastPerSecond: number | undefined;
  readonly mostPerSecond: number | undefined;
  readonly evidence: number | undefined;
  /** Requests that may go at once after a time without demand. */
  readonly burst: number;
  /** A cap of what is in flight, where one is believed. */
  readonly cap: number | undefined;
  /** The same for tokens; undefined where nothing counts them. */
  readonly tokens: UnitSnapshot | undefined;
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
  leastPerSecond: undefined,
  mostPerSecond: undefined,
  evidence: undefined,
  burst: 0,
  cap: undefined,
  tokens: undefined,
  isOut: false,
  sinceCutMs: undefined,
};

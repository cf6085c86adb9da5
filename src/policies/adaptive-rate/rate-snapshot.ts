import type { RateOrigin } from './units/unit-rate.ts';

/** The state for one unit that a provider limits. */
export interface UnitSnapshot {
  /** The rate per second; Infinity if nothing bounds it yet. */
  readonly perSecond: number;
  readonly origin: RateOrigin;
}

/** What the learner believes about the provider, and why. */
export interface RateSnapshot extends UnitSnapshot {
  /**
   * The rate measured at the last rejection, in requests per second; undefined before the first.
   */
  readonly ceilingPerSecond: number | undefined;
  /** Its bounds, and the number of accepted attempts behind it; undefined before two rejections. */
  readonly leastPerSecond: number | undefined;
  readonly mostPerSecond: number | undefined;
  readonly evidence: number | undefined;
  /** The share of requests that is rejected whatever the rate, from 0 to 1; 0 if none is known. */
  readonly rejectedByChance: number;
  /** How many requests may be sent at once after a time without demand. */
  readonly burst: number;
  /** The cap on concurrent requests, if one is believed. */
  readonly cap: number | undefined;
  /** The state for tokens; undefined if they are not limited. */
  readonly tokens: UnitSnapshot | undefined;
  /** Whether the provider rejects everything, so that single probes are sent. */
  readonly isOut: boolean;
  /** The time since the last measurement, in ms; undefined if there was none. */
  readonly sinceCutMs: number | undefined;
}

/** The state before anything is known. */
export const NOTHING_KNOWN: RateSnapshot = {
  perSecond: Number.POSITIVE_INFINITY,
  origin: 'start',
  ceilingPerSecond: undefined,
  leastPerSecond: undefined,
  mostPerSecond: undefined,
  evidence: undefined,
  rejectedByChance: 0,
  burst: 0,
  cap: undefined,
  tokens: undefined,
  isOut: false,
  sinceCutMs: undefined,
};

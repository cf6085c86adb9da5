import type { RateOrigin } from './unit-rate.ts';

/** What a learner lets go from now on, where others send for it. */
export interface Outlook {
  /** Rates per ms; Infinity: nothing bounds them. */
  readonly perMs: number;
  readonly tokensPerMs: number;
  readonly origin: RateOrigin;
  /** Requests that may go at once after a time without demand. */
  readonly burst: number;
  /** How many may go before more is known. */
  readonly budget: number;
  /** Nothing goes for so long, in ms. */
  readonly closedMs: number;
  /** Requests in flight; undefined: no cap is known. */
  readonly limit: number | undefined;
  readonly isOut: boolean;
  /** Whether results are missing that change this by time alone. */
  readonly isWaiting: boolean;
}

/** From a congestion to the next try of more, where the rate was as it had been. */
const HOLD_MS = 26_000;
/** The same where it is below this part of the highest lately, which fades with each measurement. */
const LOW_HOLD_MS = 12_000;
const LOW = 0.6;
const HIGHEST_FADES = 0.98;
/** The same where it has changed: what is not known for sure is tried sooner. */
const SHORT_HOLD_MS = 10_000;
/** As many times longer, where the limit itself was configured. */
const CONFIGURED_PATIENCE = 1.4;
/** At least so much lies between two tries, so that they cost as much at any rate. */
const HOLD_REQUESTS = 100;
/** ... but no longer, so that what was measured wrong does not last. */
const LONGEST_HOLD_MS = 300_000;

/** What a congestion has measured. */
export interface Measurement {
  readonly ratePerMs: number;
  /** The same in requests. */
  readonly requestsPerMs: number;
  /** Whether it is what was known before. */
  readonly isSame: boolean;
  /** Whether that, or that more is tried on purpose: else it may change again. */
  readonly isSettled: boolean;
}

/** How long a rate that was measured is held until more is tried. */
export class Hold {
  /** Of the rates that were confirmed. */
  #highest = 0;
  #patience = 1;

  /** The limit was configured: what is less than that is others' doing, and is tried less often. */
  setConfigured(): void {
    this.#patience = CONFIGURED_PATIENCE;
  }

  /** Milliseconds for which to hold it. */
  after({ ratePerMs, requestsPerMs, isSame, isSettled }: Measurement): number {
    if (isSame) this.#highest = Math.max(this.#highest * HIGHEST_FADES, ratePerMs);
    if (!isSettled) return SHORT_HOLD_MS * this.#patience;
    const longMs = ratePerMs < LOW * this.#highest ? LOW_HOLD_MS : HOLD_MS;
    const triesMs = Math.min(LONGEST_HOLD_MS, HOLD_REQUESTS / requestsPerMs);
    return Math.max(longMs, triesMs) * this.#patience;
  }
}

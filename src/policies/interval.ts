import { checkNumber } from '../util/check.ts';

/** The default interval between two dispatches. */
export const DEFAULT_INTERVAL_MS = 200;
/** The default upper bound of the adapted interval. */
export const DEFAULT_MAX_INTERVAL_MS = 30_000;

/** The interval between two dispatches, and the bound up to which it doubles. */
export interface IntervalOptions {
  /** Milliseconds between two dispatches, a number >= 0. Default 200. */
  readonly intervalMs?: number;
  /**
   * The upper bound of doubling, in milliseconds, a number >= `intervalMs`. Default 30,000, or
   * `intervalMs` if that is longer.
   */
  readonly maxIntervalMs?: number;
}

/**
 * An interval that is doubled when a provider has trouble, and halved when it has recovered.
 *
 * An interval configured as 0 becomes the default of 200 ms with the first doubling, and 0 again
 * with the halving that would go below that.
 */
export class Interval {
  /** The present interval, from the configured one to the longest. */
  ms: number;
  #minMs: number;
  #maxMs: number;

  constructor(options: IntervalOptions = {}) {
    [this.#minMs, this.#maxMs] = boundsOf(options);
    this.ms = this.#minMs;
  }

  /** The configured interval, the lower bound of halving. */
  get minMs(): number {
    return this.#minMs;
  }

  get maxMs(): number {
    return this.#maxMs;
  }

  /** Whether it is longer than configured. */
  get isSlowed(): boolean {
    return this.ms > this.#minMs;
  }

  /** Doubles it. Returns the new interval. */
  slower(): number {
    this.ms = Math.min(this.#maxMs, this.ms === 0 ? this.#firstStepMs : this.ms * 2);
    return this.ms;
  }

  /** Halves it. Returns the new interval. */
  faster(): number {
    const halfMs = this.ms / 2;
    this.ms = halfMs < this.#firstStepMs ? this.#minMs : halfMs;
    return this.ms;
  }

  /**
   * Sets new bounds. An unadapted interval follows the configuration; an adapted one is kept within
   * the bounds.
   */
  configure(options: IntervalOptions): void {
    const [minMs, maxMs] = boundsOf(options);
    this.ms = this.isSlowed ? Math.min(maxMs, Math.max(minMs, this.ms)) : minMs;
    this.#minMs = minMs;
    this.#maxMs = maxMs;
  }

  /** Sets the interval back to the configured one. */
  reset(): void {
    this.ms = this.#minMs;
  }

  get #firstStepMs(): number {
    return this.#minMs > 0 ? this.#minMs : DEFAULT_INTERVAL_MS;
  }
}

function boundsOf(options: IntervalOptions): [minMs: number, maxMs: number] {
  const minMs = checkNumber('intervalMs', options.intervalMs ?? DEFAULT_INTERVAL_MS, 0);
  const maxMs = options.maxIntervalMs ?? Math.max(minMs, DEFAULT_MAX_INTERVAL_MS);
  return [minMs, checkNumber('maxIntervalMs', maxMs, minMs)];
}

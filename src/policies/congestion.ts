import type { CompletedAttempt } from './policy.ts';

/** Above half of the number that was too high, each answer makes room for this part of another. */
const GROWTH = 1 / 16;

/** The start of a run, and the outages so far. */
export interface CongestionContext {
  /** The initial number of attempts in flight. */
  readonly startLimit: number;
  /** Counts outages; undefined: they are not known. */
  readonly backoff?: { readonly outage: { readonly count: number } } | undefined;
}

/**
 * Bounds the number of attempts in flight after an outage: all at once could overload the server
 * again. The number begins at half of what it was, and doubles with each round of answers. If
 * another outage begins when it has reached its bound, it may be the cause: then it begins as at the
 * beginning of a run, doubles only up to half of what it was, and rises slowly from there.
 */
export class Congestion {
  /** Infinity: no bound is known. */
  limit = Number.POSITIVE_INFINITY;
  readonly #context: CongestionContext;
  /** The outages that the bound takes account of. */
  #outages: number;
  /** The most attempts in flight since the last outage. */
  #most = 0;
  /** Up to this number each answer makes room for one more. */
  #doublesTo = Number.POSITIVE_INFINITY;

  constructor(context: CongestionContext) {
    this.#context = context;
    this.#outages = this.#outagesSoFar;
  }

  /** An attempt has ended. @param inFlight the number of attempts in flight, with this one */
  ended({ verdict }: CompletedAttempt, inFlight: number): void {
    this.#most = Math.max(this.#most, inFlight);
    const outages = this.#outagesSoFar;
    if (outages > this.#outages) {
      this.#outages = outages;
      const half = Math.max(1, this.#most / 2);
      // Only if the bound was reached, the number in flight may be the cause.
      const isByLoad = this.#most >= this.limit;
      if (isByLoad) this.#doublesTo = half;
      const first = isByLoad ? 0 : half;
      this.limit = Math.min(Math.max(this.#context.startLimit, first), this.#doublesTo);
      this.#most = 0;
    } else if (verdict?.kind === 'ok' && inFlight === Math.floor(this.limit)) {
      // If more are in flight, they were sent before the outage.
      this.limit += this.limit < this.#doublesTo ? 1 : Math.max(1 / this.limit, GROWTH);
    }
  }

  get #outagesSoFar(): number {
    return this.#context.backoff?.outage.count ?? 0;
  }
}

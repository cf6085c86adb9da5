/**
 * In an outage a probe that has no answer for so long does not hold the others any longer: its
 * connection may be lost too, and then nothing tells before the timeout of attempts. Another one goes,
 * and the next after twice as long, so that at most three go in a minute. Most models answer by then.
 */
const PATIENCE_MS = 10_000;

/** Single requests that test the provider, while all others wait for their answer. */
export class Probes {
  #sent = 0;
  /** The number of the probe in flight; 0 if there is none. */
  #out = 0;
  /** When it was sent, and how many before it had no answer for too long. */
  #sentAt = 0;
  #silent = 0;

  get isOut(): boolean {
    return this.#out > 0;
  }

  /** @returns its number */
  send(now: number): number {
    this.#silent = this.isOut ? this.#silent + 1 : 0;
    this.#sent += 1;
    this.#out = this.#sent;
    this.#sentAt = now;
    return this.#sent;
  }

  /** @returns whether it was the one in flight */
  ended(probe: number): boolean {
    if (probe !== this.#out) return false;
    this.#out = 0;
    return true;
  }

  /** The answer of the one in flight is not waited for any more. */
  forget(): void {
    this.#out = 0;
  }

  /** When another one may go. -Infinity: none is in flight. Infinity: as soon as that has ended. */
  nextAt(isOutage: boolean): number {
    if (!this.isOut) return Number.NEGATIVE_INFINITY;
    return isOutage ? this.#sentAt + PATIENCE_MS * 2 ** this.#silent : Number.POSITIVE_INFINITY;
  }
}

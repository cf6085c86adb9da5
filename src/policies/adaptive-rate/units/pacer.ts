/**
 * Spaces attempts evenly at a rate that may change at any time: a virtual schedule of sending
 * times, as in the generic cell rate algorithm (ITU-T I.371). Costs are a debt: the next attempt
 * may be sent when the earlier ones are paid for, whatever its own cost.
 */
export class Pacer {
  #ratePerMs: number;
  #freeAt = Number.NEGATIVE_INFINITY;

  constructor(ratePerMs: number) {
    this.#ratePerMs = ratePerMs;
  }

  /** When the next attempt may be sent. */
  get freeAt(): number {
    return this.#freeAt;
  }

  get ratePerMs(): number {
    return this.#ratePerMs;
  }

  /** The debt stays the same amount: at a lower rate it takes longer to pay. */
  setRate(ratePerMs: number, now: number): void {
    if (ratePerMs === this.#ratePerMs) return;
    const debtMs = this.#freeAt - now;
    // Without a rate there is no debt, whatever time was read in this turn of the event loop.
    const owed = this.#ratePerMs === Number.POSITIVE_INFINITY ? 0 : debtMs * this.#ratePerMs;
    if (debtMs > 0) this.#freeAt = now + owed / ratePerMs;
    this.#ratePerMs = ratePerMs;
  }

  /** Milliseconds until the next attempt may be sent. */
  wait(now: number): number {
    return Math.max(0, this.#freeAt - now);
  }

  /** @param savedMs how much unused time may be used at once */
  take(amount: number, now: number, savedMs = 0): void {
    this.#freeAt = Math.max(this.#freeAt, now - savedMs) + amount / this.#ratePerMs;
  }

  /** Corrects the amount taken: less was used. A negative amount: more was used. */
  giveBack(amount: number): void {
    this.#freeAt -= amount / this.#ratePerMs;
  }

  delayUntil(at: number): void {
    this.#freeAt = Math.max(this.#freeAt, at);
  }
}

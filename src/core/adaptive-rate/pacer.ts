/**
 * Spaces what is sent evenly, at a rate that may change at any time: a virtual schedule of one
 * sending time after the other, as the generic cell rate algorithm has it (ITU-T I.371). A debt:
 * the next may go once what was sent before is paid for, whatever it costs itself.
 */
export class Pacer {
  #ratePerMs: number;
  #freeAt = Number.NEGATIVE_INFINITY;

  constructor(ratePerMs: number) {
    this.#ratePerMs = ratePerMs;
  }

  /** When the next may go. */
  get freeAt(): number {
    return this.#freeAt;
  }

  get ratePerMs(): number {
    return this.#ratePerMs;
  }

  /** What is owed stays the same amount: at a lower rate it takes longer. */
  setRate(ratePerMs: number, now: number): void {
    if (ratePerMs === this.#ratePerMs) return;
    const debtMs = this.#freeAt - now;
    // Without a rate nothing is owed, whatever a reading of the clock from this very turn says.
    const owed = this.#ratePerMs === Number.POSITIVE_INFINITY ? 0 : debtMs * this.#ratePerMs;
    if (debtMs > 0) this.#freeAt = now + owed / ratePerMs;
    this.#ratePerMs = ratePerMs;
  }

  /** Milliseconds until the next may go. */
  wait(now: number): number {
    return Math.max(0, this.#freeAt - now);
  }

  /** @param savedMs how much of what was not sent in time may be sent later, at once */
  take(amount: number, now: number, savedMs = 0): void {
    this.#freeAt = Math.max(this.#freeAt, now - savedMs) + amount / this.#ratePerMs;
  }

  /** What was taken was not used. A negative amount: more was. */
  giveBack(amount: number): void {
    this.#freeAt -= amount / this.#ratePerMs;
  }

  delayUntil(at: number): void {
    this.#freeAt = Math.max(this.#freeAt, at);
  }
}

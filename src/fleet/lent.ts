/**
 * Slots or bytes that the store has lent to this worker. Those of a request that has ended serve the
 * next one at once, unless other workers wait for them.
 */
export class Lent {
  /** In use by requests in flight. */
  used = 0;
  /** Lent by the store; less than `used` only after what was lent was taken away. */
  held = 0;
  /** No more than this is kept as requests end. */
  kept = Number.POSITIVE_INFINITY;

  get free(): number {
    return Math.max(0, this.held - this.used);
  }

  take(amount: number): void {
    this.used += amount;
  }

  giveBack(amount: number): void {
    this.used -= amount;
    if (this.held > this.kept) this.held = Math.max(this.kept, this.used);
  }

  /** Keeps so much more than is used, and gives the rest back. @returns what is held then */
  keep(free: number): number {
    this.held = this.used + Math.min(this.free, free);
    return this.held;
  }

  /** What was lent belongs to others now: only what is in use is held, until it ends. */
  expire(): void {
    this.lent(this.used, 0);
  }

  /**
   * What the store says that is held now.
   * @param told what it was told to be held, if that has expired since: of that, only what is still in
   * use is held
   */
  lent(held: number, kept: number, told?: number): void {
    this.held = told === undefined ? held : this.used + Math.max(0, held - told);
    this.kept = kept;
    if (this.held > kept) this.held = Math.max(kept, this.used);
  }
}

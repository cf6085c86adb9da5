import type { SentAttempt } from '../attempts/sent-attempt.ts';

/** At least this many of the last rejections are kept. */
const KEPT = 1_024;

/** Knows how many attempts the provider served at once. */
export class ServedAttempts {
  /** The last rejections, in the order in which they came. */
  private readonly recent: { readonly order: number; readonly at: number }[] = [];

  /** An attempt was rejected at `at`. */
  rejected({ order }: SentAttempt, at: number): void {
    this.recent.push({ order, at });
    if (this.recent.length > 2 * KEPT) this.recent.splice(0, KEPT);
  }

  /**
   * How many other attempts the provider served when this one was sent: those in flight, minus
   * those that it had rejected or was about to reject.
   */
  beside({ others, order, at }: SentAttempt): number {
    let served = others;
    for (let index = this.recent.length - 1; index >= 0; index -= 1) {
      const each = this.recent[index];
      if (each === undefined || each.at <= at) break;
      if (each.order < order) served -= 1;
    }
    return Math.max(0, served);
  }
}

import { Credits } from './credits.ts';
import { Lent } from './lent.ts';

/**
 * What the store has granted and lent to a worker. What is not used by some time is not used at all:
 * by then the store may have given it to others.
 */
export class Holdings {
  readonly credits = new Credits();
  readonly slots = new Lent();
  readonly bytes = new Lent();
  /** -Infinity: nothing was granted, or it has expired. */
  private validUntil = Number.NEGATIVE_INFINITY;
  /** Counts how often what it had has expired. */
  expiries = 0;

  /** The store has heard of this worker: what it has is good until then, in ms of its clock. */
  renew(validUntil: number): void {
    this.validUntil = validUntil;
  }

  /** Gives up what is not in use, if its time is over. Slots of requests that end then go, too. */
  expire(now: number): void {
    if (now <= this.validUntil || this.validUntil === Number.NEGATIVE_INFINITY) return;
    this.expiries += 1;
    this.credits.clear();
    this.slots.expire();
    this.bytes.expire();
    this.validUntil = Number.NEGATIVE_INFINITY;
  }
}

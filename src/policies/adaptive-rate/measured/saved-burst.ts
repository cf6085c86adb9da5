import type { SentAttempt } from '../attempts/sent-attempt.ts';

/** The share of a burst that is used after some of it was rejected. */
const SAVED_PART = 0.7;
/** The increase of the burst each time that all of it was used. */
const SAVED_GROWTH = 1.25;
/**
 * After each burst that was too large, the whole burst must be used twice as often before it grows,
 * up to this number.
 */
const MOST_USES = 64;

/** The attempts since the last time without demand. */
interface Resumed {
  readonly at: number;
  readonly idleMs: number;
  accepted: number;
  /** The greatest number of them beyond what the pace permitted. */
  beyondPace: number;
  /** Whether the whole burst was used. */
  isUsed: boolean;
  /** Whether an attempt of the burst was rejected. */
  isTooMuch: boolean;
}

/**
 * The capacity that a provider saves in a time without demand, measured by the burst that it
 * accepts after that. The first attempt of a burst does not count: the pace permits it anyway.
 */
export class SavedBurst {
  private _size = 0;
  /**
   * How often the whole burst must be used before it grows, and how often it was since its last
   * change.
   */
  private uses = 1;
  private used = 0;
  private resumed: Resumed | undefined = undefined;

  /** How many attempts may be sent at once after a time without demand, beside the first. */
  get size(): number {
    return this._size;
  }

  /**
   * @param accepted the number of attempts accepted at once before the first rejection
   * @param known the largest burst that a configured limit permits
   */
  begin(accepted: number, known = 0): void {
    this._size = Math.max(SAVED_PART * (accepted - 1), known);
  }

  /**
   * The part of the time without demand before an attempt in which the provider saved what earlier
   * attempts had used, in ms. After that it loses capacity.
   * @param perMs the rate that was measured; 0 if there is none
   */
  refillMs({ idleMs }: SentAttempt, perMs: number): number {
    if (idleMs === 0 || perMs === 0) return 0;
    const used = this.resumed?.accepted ?? Number.POSITIVE_INFINITY;
    return Math.min(idleMs, Math.min(used, this._size) / perMs);
  }

  /** @param perMs the rate that was measured */
  settled({ idleMs, at, outcome }: SentAttempt, perMs: number): void {
    if (idleMs > 0) this.resume(at, idleMs);
    const { resumed } = this;
    if (resumed === undefined || outcome === 'rejected') return;
    resumed.accepted += 1;
    const beyondPace = resumed.accepted - 1 - perMs * (at - resumed.at);
    resumed.beyondPace = Math.max(resumed.beyondPace, beyondPace);
    if (resumed.isUsed || resumed.accepted === 1 || resumed.idleMs * perMs < this._size) return;
    if (beyondPace < this._size - 0.5) return;
    resumed.isUsed = true;
    this.used += 1;
    if (this.used < this.uses) return;
    this._size = this._size * SAVED_GROWTH + 1;
    this.used = 0;
  }

  private resume(at: number, idleMs: number): void {
    this.end();
    this.resumed = {
      at,
      idleMs,
      accepted: 0,
      beyondPace: 0,
      isUsed: false,
      isTooMuch: false,
    };
  }

  /** An attempt of a burst was rejected. */
  isTooMuch(): void {
    // Without knowledge of the accepted attempts, assume that nothing is saved.
    if (this.resumed === undefined) this.shrink(0);
    else this.resumed.isTooMuch = true;
  }

  /**
   * All results of the burst are known. Attempts overtake each other on their way, so only all
   * results show how many were accepted.
   */
  end(): void {
    const { resumed } = this;
    if (resumed === undefined) return;
    this.resumed = undefined;
    if (resumed.isTooMuch) this.shrink(resumed.beyondPace);
  }

  private shrink(accepted: number): void {
    this._size = Math.min(this._size, SAVED_PART * accepted);
    if (this._size < 1) this._size = 0;
    this.uses = Math.min(MOST_USES, 2 * this.uses);
    this.used = 0;
  }
}

import type { SentAttempt } from './sent-attempt.ts';

/** The share of the observed burst that is used. */
const SAVED_PART = 0.7;
/** The increase of the burst each time that all of it was used. */
const SAVED_GROWTH = 1.25;
/** After each burst that was too much, all of it must be used twice as often before it grows, up to this. */
const MOST_USES = 64;

/**
 * What a provider saves without demand: what goes at once after that tells how much it is. The first
 * attempt after such a time is none of it: the pace lets that go anyway.
 */
export class SavedBurst {
  private _size = 0;
  /** How often all of it must be used before it grows, and how often it was since it last changed. */
  private uses = 1;
  private used = 0;
  private resumed: { readonly at: number; readonly idleMs: number; accepted: number } | undefined =
    undefined;

  /** How many attempts may be sent at once after a time without demand, beside the first. */
  get size(): number {
    return this._size;
  }

  /**
   * @param accepted at once, before anything was rejected
   * @param known the most that a configured limit lets go at once
   */
  begin(accepted: number, known = 0): void {
    this._size = Math.max(SAVED_PART * (accepted - 1), known);
  }

  /** @param perMs the rate that was measured */
  settled({ idleMs, at, outcome }: SentAttempt, perMs: number): void {
    if (idleMs > 0) this.resumed = { at, idleMs, accepted: 0 };
    const { resumed } = this;
    if (resumed === undefined || outcome === 'rejected') return;
    resumed.accepted += 1;
    if (resumed.accepted === 1 || resumed.idleMs * perMs < this._size) return;
    if (this.beyondPace(at, perMs) < this._size - 0.5) return;
    this.resumed = undefined;
    this.used += 1;
    if (this.used < this.uses) return;
    this._size = this._size * SAVED_GROWTH + 1;
    this.used = 0;
  }

  /** An attempt that was sent at once was rejected. */
  isTooMuch(at: number, perMs: number): void {
    this._size = Math.min(this._size, SAVED_PART * Math.max(0, this.beyondPace(at, perMs)));
    if (this._size < 1) this._size = 0;
    this.uses = Math.min(MOST_USES, 2 * this.uses);
    this.used = 0;
  }

  /** How many were accepted since the last time without demand that the pace would not have let go. */
  private beyondPace(at: number, perMs: number): number {
    const { resumed } = this;
    if (resumed === undefined) return 0;
    return resumed.accepted - 1 - perMs * (at - resumed.at);
  }
}

import type { SentAttempt } from './sent-attempt.ts';

/** The share of the observed burst that is used. */
const SAVED_PART = 0.7;
/** The increase of the burst each time that all of it was used. */
const SAVED_GROWTH = 1.25;

/** What a provider saves without demand: what goes at once after that tells how much it is. */
export class SavedBurst {
  private _size = 0;
  private resumed: { readonly at: number; readonly idleMs: number; accepted: number } | undefined =
    undefined;

  /** How many attempts may be sent at once after a time without demand. */
  get size(): number {
    return this._size;
  }

  /** @param accepted at once, before anything was rejected */
  begin(accepted: number): void {
    this._size = SAVED_PART * accepted;
  }

  /** @param perMs the rate that was measured */
  settled({ idleMs, at, outcome }: SentAttempt, perMs: number): void {
    if (idleMs > 0) this.resumed = { at, idleMs, accepted: 0 };
    const { resumed } = this;
    if (resumed === undefined || outcome === 'rejected') return;
    resumed.accepted += 1;
    const used = resumed.accepted - perMs * (at - resumed.at);
    if (resumed.idleMs * perMs < this._size || used < this._size) return;
    this._size = this._size * SAVED_GROWTH + 1;
    this.resumed = undefined;
  }

  /** An attempt that was sent at once was rejected. */
  isTooMuch(at: number, perMs: number): void {
    const { resumed } = this;
    const accepted = resumed?.accepted ?? 0;
    const used = Math.max(0, accepted - perMs * (at - (resumed?.at ?? at)) - 1);
    this._size = Math.min(this._size, SAVED_PART * used);
    if (this._size < 1) this._size = 0;
  }
}

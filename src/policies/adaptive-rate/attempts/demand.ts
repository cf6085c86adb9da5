import type { EarlierAttempts } from './first-attempts.ts';

/**
 * A gap longer than this time, and than this number of usual intervals, is left out of
 * measurements. Without a pace, the number of intervals alone decides.
 */
const LONG_GAP_MS = 1_000;
const LONG_GAP_INTERVALS = 4;

/** An attempt that may be sent before this share of an interval has passed uses saved capacity. */
const EARLY_PART = 0.99;

/** Records when attempts were sent and whether they had to wait, to find time without demand. */
export class Demand {
  private acceptedCount: number;
  private firstAt: number;
  private _lastSentAt = Number.NEGATIVE_INFINITY;
  private sent: number;
  /**
   * When the pace alone permits the next attempt, if saved capacity permits it earlier; else
   * -Infinity.
   */
  private dueAt = Number.NEGATIVE_INFINITY;
  /** Whether the next attempt has waited for the pace, and whether it has waited at all. */
  isPaced = false;
  hasWaited = false;
  /** Whether it has waited for anything but the results of earlier attempts. */
  isHeld = false;
  /** When its wait ends, as was said last; Infinity: with a result. -Infinity: it has not waited. */
  waitsUntil = Number.NEGATIVE_INFINITY;

  /** @param past the attempts that were sent and accepted before; intervals leave out their idle time */
  constructor({ accepted, firstAt, idleMs = 0 }: EarlierAttempts) {
    this.acceptedCount = accepted;
    this.sent = accepted;
    this.firstAt = firstAt + idleMs;
  }

  /** How many attempts were sent. */
  get count(): number {
    return this.sent;
  }

  get lastSentAt(): number {
    return this._lastSentAt;
  }

  /** The mean interval between accepted attempts while they were sent; 0 if none was accepted. */
  get intervalMs(): number {
    const { acceptedCount } = this;
    return acceptedCount === 0 ? 0 : (this._lastSentAt - this.firstAt) / acceptedCount;
  }

  /** The mean interval between accepted attempts up to now; 0 if none was accepted. */
  meanMs(now: number): number {
    return this.acceptedCount === 0 ? 0 : (now - this.firstAt) / this.acceptedCount;
  }

  /**
   * The next attempt has to wait.
   * @param until when that ends, as far as is known; Infinity: with a result
   * @param isHeld whether it waits for anything but the results of earlier attempts
   */
  waits(until: number, isHeld: boolean): void {
    this.hasWaited = true;
    this.waitsUntil = until;
    if (isHeld) this.isHeld = true;
  }

  /**
   * Counts the next attempt as new demand if it was held for long after its wait: by a pause, by
   * another policy, or because the request that waited has left.
   */
  endWait(intervalMs: number, now: number): void {
    if (!isLong(now - this.waitsUntil, intervalMs)) return;
    this.isPaced = false;
    this.hasWaited = false;
    this.isHeld = false;
  }

  /**
   * The time without demand before the next attempt.
   * @param freeAt when the pace permitted the next attempt
   * @param stepMs the interval at that pace; 0 if there is none
   * @param intervalMs the usual interval
   */
  idleMs(freeAt: number, stepMs: number, intervalMs: number, now: number): number {
    const gapMs = stepMs > 0 ? stepMs : LONG_GAP_INTERVALS * intervalMs;
    if (this.hasWaited || now <= freeAt + gapMs) return 0;
    const idleMs = Math.max(0, now - Math.max(freeAt, this._lastSentAt, this.waitsUntil));
    return Number.isFinite(idleMs) ? idleMs : 0;
  }

  /**
   * An attempt was just sent.
   * @param freeAt when the pace and the saved capacity permit the next attempt
   */
  saves(freeAt: number, stepMs: number, now: number): void {
    const isAhead = freeAt < now + EARLY_PART * stepMs;
    this.dueAt = isAhead ? Math.max(this.dueAt, now) + stepMs : Number.NEGATIVE_INFINITY;
  }

  /**
   * How much unused time the next attempt may use at once if it is not paced. Time spent waiting for
   * other causes, such as the end of a closure, saves no capacity. Capacity that was saved before
   * stays while the attempt waits for results.
   * @param savedMs the time whose capacity is saved without demand
   */
  usableMs(savedMs: number): number {
    if (!this.hasWaited) return savedMs;
    const goesOn = !this.isHeld && this.dueAt !== Number.NEGATIVE_INFINITY;
    return goesOn ? Number.POSITIVE_INFINITY : 0;
  }

  /** Whether an attempt that is sent now uses saved capacity: the pace does not permit it yet. */
  isEarly(now: number): boolean {
    return now < this.dueAt;
  }

  /** Whether nothing was sent for so long that measurements leave the time out. */
  isLongGap(intervalMs: number, now: number): boolean {
    return isLong(now - this._lastSentAt, intervalMs);
  }

  add(at: number): void {
    this.sent += 1;
    this._lastSentAt = at;
    this.isPaced = false;
    this.hasWaited = false;
    this.isHeld = false;
    this.waitsUntil = Number.NEGATIVE_INFINITY;
  }

  /** @param at when the accepted attempt was sent: intervals begin with the first one */
  accepted(at: number): void {
    if (this.acceptedCount === 0) this.firstAt = at;
    this.acceptedCount += 1;
  }
}

function isLong(gapMs: number, intervalMs: number): boolean {
  return gapMs > Math.max(LONG_GAP_MS, LONG_GAP_INTERVALS * intervalMs);
}

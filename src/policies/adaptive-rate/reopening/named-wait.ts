import { WaitLine } from './wait-line.ts';

/** Two rejections that come within this share of the first wait differ only by chance. */
const LEAST_PART = 0.2;
/**
 * Bounds of the true wait as a multiple of the named one. Outside them, the rejections name two
 * waits.
 */
const MOST_SCALE = 12;
const LEAST_SCALE = 1 / 50;
/**
 * A constant wait seems to fall because of its jitter, so a scale that is larger than this must be
 * seen twice.
 */
const JITTER_SCALE = 4;
/** Two pairs show the same scale if they differ by at most this factor. */
const SAME_SCALE = 1.5;
/**
 * An attempt that is accepted this long before the end of a wait proves it too long; less may be
 * clock error.
 */
const EARLY_MS = 20;
const EARLY_PART = 0.9;

/**
 * Rejections of two attempts that were sent this far apart show a scale: a smaller distance may be
 * due to network delay.
 */
const APART_MS = 200;
/** The least distance if both waits are whole seconds, which may be rounded. */
const ROUNDED_APART_MS = 5_000;
/** The least difference between the two waits. */
const LEAST_FALL_MS = APART_MS / 2;

const SECOND_MS = 1_000;

/** A wait, and when the attempt was sent whose rejection named it. */
interface Naming {
  readonly sentAt: number;
  readonly ms: number;
}

/** The waits that rejections name. They are obeyed, and corrected if they prove wrong. */
export class NamedWait {
  private readonly mostMs: number;
  private first: (Naming & { readonly at: number }) | undefined;
  private readonly line = new WaitLine();
  /** The true wait as a multiple of the named one. */
  private _scale = 1;
  /** A scale that was seen once. */
  private shown: number | undefined;
  private _until = Number.NEGATIVE_INFINITY;
  /** Whether all waits so far were whole seconds. */
  private isRounded = true;

  /** @param mostMs no correction makes a wait longer than this */
  constructor(mostMs = Number.POSITIVE_INFINITY) {
    this.mostMs = mostMs;
  }

  get scale(): number {
    return this._scale;
  }

  /** Nothing is sent before this time. */
  get until(): number {
    return this._until;
  }

  /** The earliest possible end of the wait: waits in whole seconds are rounded up. */
  get earliest(): number {
    return this._until - (this.isRounded ? SECOND_MS * this.scale : 0);
  }

  /** An accepted attempt ends the named wait. */
  reset(): void {
    this.first = undefined;
    this.line.next();
    this._until = Number.NEGATIVE_INFINITY;
  }

  /** @param isLater whether the attempt was sent after the last reaction */
  named(ms: number, sentAt: number, now: number, isLater: boolean): void {
    const { first } = this;
    this.line.add(sentAt, ms, now);
    if (!isWhole(ms)) this.isRounded = false;
    if (first !== undefined && !isLater) {
      const { scale } = this;
      const ofMany = this.line.scale;
      const next = { sentAt, ms };
      if (ofMany !== undefined) this.show(ofMany, true);
      else if (isPair(first, next, now)) this.show(scaleOf(first, next));
      else if (fallsTooFast(first, next, now)) this.show(scaleOf(first, next), false);
      if (this.scale !== scale) this._until = now + this.corrected(ms);
    }
    if (
      first !== undefined &&
      isLater &&
      now - first.at > Math.max(LEAST_PART * first.ms, APART_MS)
    ) {
      // A true wait falls by the time that has passed.
      this.show((now - first.at) / (first.ms - ms));
    }
    const until = now + this.corrected(ms);
    if (first === undefined || isLater) {
      this.first = { at: now, sentAt, ms };
      this._until = until;
    } else this._until = Math.max(this._until, until);
  }

  private corrected(ms: number): number {
    return Math.min(ms * this.scale, Math.max(ms, this.mostMs));
  }

  private show(scale: number, isSure = scale <= JITTER_SCALE): void {
    const { shown } = this;
    const isScale = scale > LEAST_SCALE && scale < MOST_SCALE;
    this.shown = isScale ? scale : undefined;
    if (!isScale) return;
    const isSame = shown !== undefined && Math.max(scale / shown, shown / scale) <= SAME_SCALE;
    if (isSure || isSame) this._scale = scale;
  }

  /**
   * An attempt was accepted. One that was in flight at the rejection may have arrived before it.
   */
  accepted(sentAt: number): void {
    const { first } = this;
    if (first === undefined || sentAt <= Math.max(first.at, first.sentAt + EARLY_MS)) return;
    if (sentAt >= this._until - EARLY_MS) return;
    const part = (sentAt - first.sentAt) / first.ms;
    if (part >= EARLY_PART * this.scale) return;
    this._scale = Math.max(LEAST_SCALE, part);
    this._until = sentAt;
  }
}

function isWhole(ms: number): boolean {
  return ms % SECOND_MS === 0;
}

/**
 * Whether two waits, named for attempts in flight at once, show the scale.
 * @param now when the later one was named
 */
function isPair(earlier: Naming, later: Naming, now: number): boolean {
  const isRounded = [earlier, later].every(({ ms }) => isWhole(ms));
  const apartMs = later.sentAt - earlier.sentAt;
  if (apartMs < (isRounded ? ROUNDED_APART_MS : APART_MS)) return false;
  const fallMs = earlier.ms - later.ms;
  if (fallMs < LEAST_FALL_MS) return false;
  // An attempt may have been delayed on its way: only a difference greater than all the elapsed
  // time shows that the waits are too long.
  return fallMs <= apartMs || fallMs > now - earlier.sentAt;
}

/**
 * Whether the wait fell by more than all the elapsed time, however close the two attempts are. The
 * network delay makes that scale inexact.
 */
function fallsTooFast(earlier: Naming, later: Naming, now: number): boolean {
  if (isWhole(earlier.ms) && isWhole(later.ms)) return false;
  const fallMs = earlier.ms - later.ms;
  const elapsedMs = now - earlier.sentAt;
  return later.sentAt > earlier.sentAt && fallMs > Math.max(LEAST_FALL_MS, elapsedMs);
}

/** The true wait as a multiple of the named one: a true wait falls by the time that passes. */
function scaleOf(earlier: Naming, later: Naming): number {
  return (later.sentAt - earlier.sentAt) / (earlier.ms - later.ms);
}

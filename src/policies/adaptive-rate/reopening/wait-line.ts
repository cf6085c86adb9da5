/** Fewer degrees of freedom than this show nothing. */
const LEAST = 6;
/** Waits that are multiples of this may be rounded, and do not count. */
const ROUNDED_MS = 1_000;
/** Waits that fall by more than this number of standard errors do not fall by chance. */
const FALLS = 4;
/** From this number of standard errors on, waits fall faster than time passes. */
const FASTER = 3;
/**
 * A line with waits that are too short must explain this share of the variance: the rest has other
 * causes.
 */
const EXPLAINED = 0.9;
/** The part of the evidence that the next closure keeps. */
const KEPT = 0.8;

/**
 * How much time passes while the named waits fall by one millisecond: least squares, in which each
 * closure has its own end, and all have the same slope.
 */
class Slope {
  /** Degrees of freedom. */
  freedom = -1;
  private count = 0;
  private meanMs = 0;
  private meanAt = 0;
  private varianceMs = 0;
  private varianceAt = 0;
  private covariance = 0;

  add(ms: number, at: number): void {
    if (this.count > 0) this.freedom += 1;
    this.count += 1;
    const fromMs = ms - this.meanMs;
    const fromAt = at - this.meanAt;
    this.meanMs += fromMs / this.count;
    this.meanAt += fromAt / this.count;
    this.varianceMs += fromMs * (ms - this.meanMs);
    this.varianceAt += fromAt * (at - this.meanAt);
    this.covariance += fromMs * (at - this.meanAt);
  }

  /** Another closure begins. */
  next(): void {
    this.count = 0;
    this.meanMs = 0;
    this.meanAt = 0;
    this.freedom = (this.freedom + 1) * KEPT - 1;
    this.varianceMs *= KEPT;
    this.varianceAt *= KEPT;
    this.covariance *= KEPT;
  }

  /** NaN where all waits are the same. */
  get value(): number {
    return -this.covariance / this.varianceMs;
  }

  /** The standard error. */
  get error(): number {
    const restMs = this.varianceAt - this.covariance ** 2 / this.varianceMs;
    return Math.sqrt(Math.max(0, restMs) / this.freedom / this.varianceMs);
  }

  /** The part of the variance that the slope explains. */
  get explained(): number {
    return this.covariance ** 2 / (this.varianceMs * this.varianceAt);
  }

  /** Whether the waits fall as time passes. */
  get isSure(): boolean {
    return this.value > FALLS * this.error;
  }
}

/**
 * The line through the waits that rejections name, over the times at which their attempts were sent
 * and at which they came back. A true wait falls by the time that passes; one that is ten times too
 * long falls ten times faster.
 */
export class WaitLine {
  private readonly sent = new Slope();
  private readonly returned = new Slope();

  /** @param now when the rejection came back that names `ms` */
  add(sentAt: number, ms: number, now: number): void {
    if (ms % ROUNDED_MS === 0) return;
    this.sent.add(ms, sentAt);
    this.returned.add(ms, now);
  }

  /** Another closure begins. */
  next(): void {
    this.sent.next();
    this.returned.next();
  }

  /**
   * The true wait as a multiple of the named one; undefined if the waits are not on a line, or
   * delays on the way to the API may explain it.
   */
  get scale(): number | undefined {
    const { sent, returned } = this;
    if (sent.freedom < LEAST || !(sent.isSure || returned.isSure)) return undefined;
    // Varying delays on the way make the first value too small, and the second uncertain.
    const scale = Math.max(sent.value, returned.value);
    if (scale >= 1) return sent.explained >= EXPLAINED ? Math.max(1, sent.value) : undefined;
    // Attempts that queue on their way arrive and return at greater intervals than they were sent.
    return returned.value + FASTER * returned.error < 1 ? scale : undefined;
  }
}

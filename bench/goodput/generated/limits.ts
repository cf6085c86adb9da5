/** The server's limits of generated providers. Each decides about one request at a time. */
import type { Share } from './change.ts';

/** One limit of a server: it admits a cost, or returns how long to wait. Times in ms. */
export interface Limit {
  /** The time until `cost` would be admitted if nothing else came; 0: now. */
  waitMs(now: number, cost: number): number;
  /** Charges a request that {@link waitMs} admitted, or a rejected request if rejections count. */
  charge(now: number, cost: number): void;
  /** Called when an admitted request has ended. */
  release?(): void;
  /** The state that headers report. */
  told(now: number): Told;
}

/** The state of a limit that headers report. */
export interface Told {
  readonly limit: number;
  readonly remaining: number;
  /** The time until the whole limit is free. */
  readonly resetMs: number;
}

/** The share of its limit that a provider grants at a time. */
export type Factor = (now: number) => number;

/** The step at which a limit with a changing factor is checked again, as a share of its window. */
const GRAIN = 1 / 200;

/** A tolerance of a millionth of a request, since sums of fractions are inexact. */
const EPSILON = 1e-6;

/** A token bucket that holds up to `burst` and fills at `perMs`. */
export class BucketLimit implements Limit {
  private level: number;
  private at = 0;
  private readonly perMs: number;
  private readonly burst: number;
  private readonly share: Share;

  constructor(perMs: number, burst: number, share: Share) {
    this.perMs = perMs;
    this.burst = burst;
    this.share = share;
    this.level = burst;
  }

  waitMs(now: number, cost: number): number {
    this.advance(now);
    const missing = Math.min(cost, this.burst) - this.level;
    return missing <= EPSILON ? 0 : missing / (this.perMs * this.share.at(now));
  }

  charge(now: number, cost: number): void {
    this.advance(now);
    // Rejected requests that count make the bucket negative, down to a bound.
    this.level = Math.max(-Math.max(this.burst, cost), this.level - cost);
  }

  told(now: number): Told {
    this.advance(now);
    const missing = this.burst - this.level;
    const resetMs = missing / (this.perMs * this.share.at(now));
    return { limit: this.burst, remaining: Math.max(0, Math.floor(this.level)), resetMs };
  }

  private advance(now: number): void {
    const gained = this.perMs * (this.share.until(now) - this.share.until(this.at));
    this.level = Math.min(this.burst, this.level + gained);
    this.at = now;
  }
}

/** `limit` in each fixed window: aligned to the server's clock, or begun by the first charge. */
export class WindowLimit implements Limit {
  private used = 0;
  private startsAt: number;
  private readonly limit: number;
  private readonly windowMs: number;
  private readonly factor: Factor;
  private readonly isAligned: boolean;

  /**
   * @param phaseMs the start of the first window, <= 0; undefined: each window begins with a charge
   */
  constructor(limit: number, windowMs: number, factor: Factor, phaseMs?: number) {
    this.limit = limit;
    this.windowMs = windowMs;
    this.factor = factor;
    this.isAligned = phaseMs !== undefined;
    this.startsAt = phaseMs ?? Number.NEGATIVE_INFINITY;
  }

  waitMs(now: number, cost: number): number {
    this.advance(now);
    if (this.used === 0 || this.used + cost <= this.limit * this.factor(now) + EPSILON) return 0;
    return this.startsAt + this.windowMs - now;
  }

  charge(now: number, cost: number): void {
    this.advance(now);
    if (!this.isAligned && now >= this.startsAt + this.windowMs) this.startsAt = now;
    this.used += cost;
  }

  told(now: number): Told {
    this.advance(now);
    const limit = Math.max(1, Math.floor(this.limit * this.factor(now)));
    const endsAt = Math.max(now, this.startsAt + this.windowMs);
    return { limit, remaining: Math.max(0, Math.floor(limit - this.used)), resetMs: endsAt - now };
  }

  private advance(now: number): void {
    if (now < this.startsAt + this.windowMs) return;
    this.used = 0;
    if (!this.isAligned) return;
    this.startsAt += Math.max(1, Math.floor((now - this.startsAt) / this.windowMs)) * this.windowMs;
  }
}

/** `limit` in any interval as long as the window: a log of all charges. */
export class LogLimit implements Limit {
  private readonly times: number[] = [];
  private readonly costs: number[] = [];
  private head = 0;
  private used = 0;
  private readonly limit: number;
  private readonly windowMs: number;
  private readonly factor: Factor;

  constructor(limit: number, windowMs: number, factor: Factor) {
    this.limit = limit;
    this.windowMs = windowMs;
    this.factor = factor;
  }

  waitMs(now: number, cost: number): number {
    this.advance(now);
    const limit = this.limit * this.factor(now);
    let excess = this.used + Math.min(cost, limit) - limit;
    let waitMs = 0;
    for (let index = this.head; excess > EPSILON && index < this.times.length; index += 1) {
      excess -= this.costs[index] ?? 0;
      waitMs = (this.times[index] ?? now) + this.windowMs - now;
    }
    return waitMs;
  }

  charge(now: number, cost: number): void {
    this.times.push(now);
    this.costs.push(cost);
    this.used += cost;
  }

  told(now: number): Told {
    this.advance(now);
    const limit = Math.max(1, Math.floor(this.limit * this.factor(now)));
    const last = this.times.length > this.head ? (this.times.at(-1) ?? now) : now - this.windowMs;
    const remaining = Math.max(0, Math.floor(limit - this.used));
    return { limit, remaining, resetMs: last + this.windowMs - now };
  }

  private advance(now: number): void {
    while (this.head < this.times.length && (this.times[this.head] ?? now) + this.windowMs <= now) {
      this.used -= this.costs[this.head] ?? 0;
      this.head += 1;
    }
    if (this.head < 1_024 || this.head * 2 < this.times.length) return;
    this.times.splice(0, this.head);
    this.costs.splice(0, this.head);
    this.head = 0;
  }
}

/**
 * A sliding-window counter: the last aligned window counts by the share that the window still
 * covers.
 */
export class CounterLimit implements Limit {
  private before = 0;
  private used = 0;
  private startsAt: number;
  private readonly limit: number;
  private readonly windowMs: number;
  private readonly factor: Factor;

  /** @param phaseMs the start of the first window, <= 0 */
  constructor(limit: number, windowMs: number, factor: Factor, phaseMs: number) {
    this.limit = limit;
    this.windowMs = windowMs;
    this.factor = factor;
    this.startsAt = phaseMs;
  }

  waitMs(now: number, cost: number): number {
    this.advance(now);
    const limit = this.limit * this.factor(now);
    const room = limit - Math.min(cost, limit);
    if (this.countAt(now) <= room + EPSILON) return 0;
    const leftMs = this.startsAt + this.windowMs - now;
    if (this.before > 0 && this.used <= room) {
      return (1 - (room - this.used) / this.before) * this.windowMs - (now - this.startsAt);
    }
    // The charges of this window expire gradually in the next one.
    return leftMs + Math.max(0, 1 - room / Math.max(EPSILON, this.used)) * this.windowMs;
  }

  charge(now: number, cost: number): void {
    this.advance(now);
    this.used += cost;
  }

  told(now: number): Told {
    this.advance(now);
    const limit = Math.max(1, Math.floor(this.limit * this.factor(now)));
    const remaining = Math.max(0, Math.floor(limit - this.countAt(now)));
    return { limit, remaining, resetMs: this.startsAt + this.windowMs - now };
  }

  private countAt(now: number): number {
    return this.used + this.before * (1 - (now - this.startsAt) / this.windowMs);
  }

  private advance(now: number): void {
    const windows = Math.floor((now - this.startsAt) / this.windowMs);
    if (windows <= 0) return;
    this.before = windows === 1 ? this.used : 0;
    this.used = 0;
    this.startsAt += windows * this.windowMs;
  }
}

/** At most `cap` requests in flight. */
export class CapLimit implements Limit {
  private inFlight = 0;
  private readonly cap: number;
  private readonly factor: Factor;

  constructor(cap: number, factor: Factor) {
    this.cap = cap;
    this.factor = factor;
  }

  waitMs(now: number): number {
    return this.inFlight < this.capAt(now) ? 0 : Number.POSITIVE_INFINITY;
  }

  charge(): void {
    this.inFlight += 1;
  }

  release(): void {
    this.inFlight -= 1;
  }

  told(now: number): Told {
    const limit = this.capAt(now);
    return { limit, remaining: Math.max(0, limit - this.inFlight), resetMs: 0 };
  }

  private capAt(now: number): number {
    return Math.max(1, Math.round(this.cap * this.factor(now)));
  }
}

/** The interval at which a limit without a certain time is checked again, in ms. */
export function grainMs(windowMs: number): number {
  return windowMs * GRAIN;
}

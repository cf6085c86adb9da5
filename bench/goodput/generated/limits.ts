/** The limits of generated providers, as servers keep them: each decides about one request at a time. */
import type { Share } from './change.ts';

/** What a server counts of one kind: it admits a cost, or says how long to wait. Times in ms. */
export interface Limit {
  /** Until `cost` would be admitted if nothing else came; 0: now. */
  waitMs(now: number, cost: number): number;
  /** Charges what {@link waitMs} has let in, or a rejected request where those count. */
  charge(now: number, cost: number): void;
  /** An admitted request has ended. */
  release?(): void;
  /** What headers tell. */
  told(now: number): Told;
}

/** What headers say of a limit. */
export interface Told {
  readonly limit: number;
  readonly remaining: number;
  /** Until nothing is used any more. */
  readonly resetMs: number;
}

/** The part of its limit that a provider grants at a time. */
export type Factor = (now: number) => number;

/** The grain at which a limit whose factor moves is asked again, as a part of its window. */
const GRAIN = 1 / 200;

/** Sums of fractions are not exact: what is missing by a millionth of a request is not missing. */
const EPSILON = 1e-6;

/** Holds up to `burst` and fills up at `perMs`. */
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
    // Rejected requests that count drive it below nothing, though not without end.
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

/** `limit` in each window: aligned to the server's clock, or begun by the first charge. */
export class WindowLimit implements Limit {
  private used = 0;
  private startsAt: number;
  private readonly limit: number;
  private readonly windowMs: number;
  private readonly factor: Factor;
  private readonly isAligned: boolean;

  /** @param phaseMs when the first window has begun, <= 0; undefined: each begins with a charge */
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

/** `limit` in a window that slides: of the last aligned window the part that it still covers counts. */
export class CounterLimit implements Limit {
  private before = 0;
  private used = 0;
  private startsAt: number;
  private readonly limit: number;
  private readonly windowMs: number;
  private readonly factor: Factor;

  /** @param phaseMs when the first window has begun, <= 0 */
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
    // What was charged in this window fades in the next.
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

/** At most `cap` in flight. */
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

/** How often a limit is asked again for which no time is certain, in ms. */
export function grainMs(windowMs: number): number {
  return windowMs * GRAIN;
}

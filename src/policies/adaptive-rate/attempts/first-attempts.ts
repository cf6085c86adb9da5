import { PRESUMED_MS } from './send-history.ts';

/**
 * If nothing was in flight for longer than this, there was no demand. A shorter time may be that
 * between an answer and the attempt that waited for it.
 */
const REST_MS = 1_000;
/** How many of the last attempts are remembered. */
const KEPT_TIMES = 1_024;
/** The initial capacity, enough for a key that is used little. */
const FIRST_TIMES = 8;

/** The attempts that were sent and accepted before the first rejection. */
export interface EarlierAttempts {
  readonly accepted: number;
  /** When the first of them was sent; unused if none was accepted. */
  readonly firstAt: number;
  /**
   * The time without demand among them, in ms, and the number of attempts sent before the last such
   * time.
   */
  readonly idleMs?: number;
  readonly beforeIdle?: number;
}

/** An attempt in flight: its number, counted from 1, and when it was sent. */
type OutAttempt = readonly [number: number, at: number];

/**
 * A cheap record of the attempts until the first rejection or reported limit: their number, and
 * when those in flight were sent.
 */
export class FirstAttempts {
  #sent = 0;
  /** When attempts in flight were sent; NaN for those that have ended. */
  #times = new Float64Array(FIRST_TIMES);
  /** All attempts of a lower order have ended; `#times` begins with this order. */
  #since = 0;
  #firstAt = 0;
  #lastAt = 0;
  /** The time without demand, and the number of attempts sent before the last such time. */
  #idleMs = 0;
  #beforeIdle = 0;
  /** Since when nothing is in flight, where that is the only sign of no demand. */
  #restsSince = Number.POSITIVE_INFINITY;
  /** All attempts of a lower order have ended, or are known or presumed to be accepted. */
  #presumed = 0;
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** The numbers of those in flight whose answers have begun. */
  readonly #begun = new Set<number>();

  /**
   * An attempt was sent.
   * @param isUnasked whether it could have been sent earlier, but there was no demand
   * @returns its number
   */
  add(now: number, isUnasked: boolean): number {
    if (this.#sent === 0) this.#firstAt = now;
    else if (isUnasked && now > this.#lastAt) this.#idle(now - this.#lastAt);
    else if (now > this.#restsSince + REST_MS) this.#idle(now - this.#restsSince);
    this.#lastAt = now;
    this.#restsSince = Number.POSITIVE_INFINITY;
    const place = this.#sent - this.#since;
    if (place === this.#times.length && place < KEPT_TIMES) this.#grow();
    this.#times[place % KEPT_TIMES] = now;
    this.#sent += 1;
    return this.#sent;
  }

  /** When an attempt in flight was sent; NaN: too long ago to be remembered. */
  sentAt(number: number): number {
    return this.#sent - number < KEPT_TIMES ? this.#timeOf(number - 1) : Number.NaN;
  }

  /**
   * @param isLast whether no attempt is in flight now
   * @returns whether its answer had begun before, when it was not yet presumed to be accepted
   */
  ended(number: number, isLast: boolean): boolean {
    if (isLast) {
      // The next attempt is the first one in `#times`.
      this.#since = this.#sent;
      if (this.#times.length > FIRST_TIMES) this.#times = new Float64Array(FIRST_TIMES);
    } else if (this.#sent - number < KEPT_TIMES) {
      this.#times[(number - 1 - this.#since) % KEPT_TIMES] = Number.NaN;
    }
    return this.#begun.delete(number);
  }

  /**
   * Nothing is in flight. Called where one attempt fills the whole limit, so that none shows by the
   * room it leaves that there was no demand before it.
   */
  rests(now: number): void {
    this.#restsSince = now;
  }

  /**
   * The answer to an attempt has begun.
   * @returns false if it had before, or was presumed to be accepted already
   */
  begun(number: number, now: number): boolean {
    if (!this.answered(number, now) || this.#begun.has(number)) return false;
    this.#begun.add(number);
    return true;
  }

  /** An attempt was answered well. @returns false if it was presumed to be accepted already */
  answered(number: number, now: number): boolean {
    this.#answeredAt = now;
    return number > this.#presumed;
  }

  /** When one more attempt is presumed to be accepted; Infinity if an answer must come first. */
  get nextAt(): number {
    const at = this.#oldestAt;
    // The server may have failed after the last answer: attempts sent since then are not presumed.
    return at <= this.#answeredAt ? at + PRESUMED_MS : Number.POSITIVE_INFINITY;
  }

  /** @returns how many more attempts are presumed to be accepted by now */
  presume(now: number): number {
    let count = 0;
    for (; this.nextAt <= now; this.#presumed += 1) count += 1;
    return count;
  }

  /** The attempts in flight, among the last `KEPT_TIMES`. */
  get out(): readonly OutAttempt[] {
    const out: OutAttempt[] = [];
    for (
      let order = this.#oldest(this.#since);
      order < this.#sent;
      order = this.#oldest(order + 1)
    ) {
      out.push([order + 1, this.#timeOf(order)]);
    }
    return out;
  }

  /** All other attempts; none of them was rejected. */
  past(out: number): EarlierAttempts {
    const [firstAt, idleMs, beforeIdle] = [this.#firstAt, this.#idleMs, this.#beforeIdle];
    return { accepted: this.#sent - out, firstAt, idleMs, beforeIdle };
  }

  /**
   * When the first attempt in flight was sent that is neither known nor presumed to be accepted; NaN
   * if there is none.
   */
  get #oldestAt(): number {
    let order = this.#oldest(this.#presumed);
    while (this.#begun.has(order + 1)) order = this.#oldest(order + 1);
    this.#presumed = order;
    return order < this.#sent ? this.#timeOf(order) : Number.NaN;
  }

  /** The first attempt from this one on that is in flight and remembered. */
  #oldest(from: number): number {
    let order = Math.max(from, this.#since, this.#sent - KEPT_TIMES);
    while (order < this.#sent && Number.isNaN(this.#timeOf(order))) order += 1;
    return order;
  }

  #timeOf(order: number): number {
    return this.#times[(order - this.#since) % KEPT_TIMES] ?? Number.NaN;
  }

  #idle(idleMs: number): void {
    this.#idleMs += idleMs;
    this.#beforeIdle = this.#sent;
  }

  #grow(): void {
    const times = new Float64Array(this.#times.length * 2);
    times.set(this.#times);
    this.#times = times;
  }
}

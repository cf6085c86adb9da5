import type { Mark } from './attempt.ts';

/** As many moments of congestion are remembered. */
const MOST_MARKS = 32;
/** Sends that tell the rate of the last moment. */
const RECENT_SENDS = 10;
/** What was sent at once, at the very start, tells no rate. */
const LEAST_START_MS = 1_000;

/**
 * When the provider had nothing left, and the rates that follow from it. What was accepted between
 * two such moments, by the time between them, is the rate that the limit allows, whatever its kind: a
 * bucket was empty at both, a window was full at both. The two must lie a window apart, since one
 * that was filled in a burst gives itself back in a burst; a window is at least as long as the
 * longest time for which nothing was let in.
 */
export class Marks {
  /** Where counting began, which was no congestion. */
  readonly #start: Mark;
  readonly #marks: Mark[];
  readonly #sentAt: number[] = [];
  #windowMs = 0;
  #closedSince = 0;

  constructor(now: number) {
    this.#start = { at: now, order: 0, accepted: 0, total: 0 };
    this.#marks = [this.#start];
  }

  get last(): Mark | undefined {
    return this.#marks.at(-1);
  }

  /** The longest time for which nothing was let in. */
  get windowMs(): number {
    return this.#windowMs;
  }

  sent(now: number): void {
    this.#sentAt.push(now);
    if (this.#sentAt.length > RECENT_SENDS) this.#sentAt.shift();
  }

  /** Nothing is left from now on, until `at`. */
  add(mark: Mark, since: number): void {
    this.#closedSince = since;
    this.#windowMs = Math.max(this.#windowMs, mark.at - since);
    this.#marks.push(mark);
    if (this.#marks.length > MOST_MARKS) this.#marks.shift();
  }

  /** Still nothing is left, until `at`. */
  prolong(at: number): void {
    const { last } = this;
    if (last === undefined) return;
    last.at = Math.max(last.at, at);
    this.#windowMs = Math.max(this.#windowMs, last.at - this.#closedSince);
  }

  /** An attempt has turned out to have cost more than was thought. */
  corrected(order: number, more: number): void {
    for (const mark of this.#marks) if (order < mark.order) mark.total += more;
  }

  /** Time passed that tells nothing. */
  skip(ms: number): void {
    for (const mark of this.#marks) mark.at += ms;
  }

  /**
   * What was accepted up to the last mark, by the time since one that is at least a window older; 0:
   * nothing was.
   */
  get ratePerMs(): number {
    const { last } = this;
    let from = this.#marks.length - 2;
    let first = this.#marks[from];
    if (last === undefined || first === undefined) return 0;
    while (from > 0 && last.at - first.at < this.#windowMs) {
      from -= 1;
      first = this.#marks[from] ?? first;
    }
    const leastMs = first === this.#start ? LEAST_START_MS : 1;
    return (last.total - first.total) / Math.max(leastMs, last.at - first.at);
  }

  /** Attempts a millisecond in the last moment before a time. */
  recentBefore(at: number): number {
    const [first] = this.#sentAt;
    if (first === undefined || at <= first) return 0;
    return (this.#sentAt.length - 1) / (at - first);
  }
}

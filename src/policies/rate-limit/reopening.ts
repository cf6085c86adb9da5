import type { LimitRule } from './rate-limit.ts';

/** For at most this time one request tests whether a window has ended, in ms. */
const TEST_MS = 1_000;
/** The upper bound of that time, as a share of the window. */
const TEST_PART = 0.05;
/**
 * The time from the rejection of a test to the next test, in ms, and its upper bound as a share. Also
 * the most that is added to the wait for the end after the test.
 */
const DELAY_MS = 100;
const DELAY_PART = 0.02;
/** After this many rejected tests, no further one is made. */
const MOST_TESTS = 3;

/**
 * Tests the first end of a configured window with one request. The provider's window begins when the
 * first request arrives there, and a first request that opens its connection arrives tens of
 * milliseconds late. If all waiting requests were sent as soon as the window is over by our own
 * clock, all of them would be rejected. So one is sent then, and the others follow when it is
 * accepted. The window that the test began may have begun as late as its answer came, so the next end
 * is expected later by that. Windows after that begin with the fastest of many requests, and end in
 * time for the fastest of the next.
 */
export class Reopening {
  #tests = 0;
  #isTested = false;
  /** When the window that is used up now ends by our clock; Infinity: none is used up. */
  #endsAt = Number.POSITIVE_INFINITY;
  #windowMs = 0;
  /** The charge of the request that tests the end. */
  #test: object | undefined = undefined;
  /** When the first test and the last one were sent. */
  #firstTestAt = 0;
  #testedAt = 0;
  /** Until then, no request is sent. */
  #heldUntil = Number.NEGATIVE_INFINITY;
  /** How much later the next end is expected, in ms. */
  #lateMs = 0;

  /** Whether a request that is sent now is the first one after the end. */
  isTest(now: number): boolean {
    return !this.#isTested && now >= this.#endsAt;
  }

  /**
   * A request waits for a limit, which admits it at `endsAt`.
   * @returns when it may be sent
   */
  closed({ algorithm, windowMs }: LimitRule, endsAt: number): number {
    const isWindow = algorithm !== 'token-bucket' && windowMs < Number.POSITIVE_INFINITY;
    if (!isWindow || (this.#isTested && this.#lateMs === 0)) return endsAt;
    this.#windowMs = windowMs;
    this.#endsAt = endsAt;
    if (this.#lateMs > 0) this.#heldUntil = endsAt + this.#lateMs;
    return endsAt + this.#lateMs;
  }

  /** Milliseconds until a request that the limits admit may be sent. */
  wait(now: number): number {
    // Limits that admit a request before the end were raised, or charges were given back.
    const isOpen = this.#lateMs > 0 && now < this.#endsAt;
    return isOpen ? 0 : Math.max(0, this.#heldUntil - now);
  }

  /**
   * A request was sent.
   * @param charge of the limits
   * @param isFull whether the limits admit no further request like it
   */
  sent(charge: object, isFull: () => boolean, now: number): void {
    if (this.#test !== undefined) this.#accept(now);
    else if (now >= this.#endsAt) this.#lateMs = 0;
    const isTest = this.isTest(now);
    this.#endsAt = Number.POSITIVE_INFINITY;
    if (!isTest) return;
    this.#isTested = true;
    // If the limit admits one request after the other, none of them has to wait for the first.
    if (isFull()) return;
    if (this.#tests === 0) this.#firstTestAt = now;
    this.#testedAt = now;
    this.#tests += 1;
    this.#test = charge;
    this.#heldUntil = now + Math.min(TEST_MS, TEST_PART * this.#windowMs);
  }

  /** A request has ended. @param isRejected whether the provider rejected it for its rate */
  ended(charge: object, isRejected: boolean, now: () => number): void {
    if (charge !== this.#test) return;
    if (!isRejected) this.#accept(now());
    else {
      this.#test = undefined;
      this.#heldUntil = Number.NEGATIVE_INFINITY;
      if (this.#tests < MOST_TESTS) this.#testAgain(now());
    }
  }

  /** Our window began with the first test, and that of the provider with this one. */

  #accept(now: number): void {
    this.#test = undefined;
    this.#heldUntil = Number.NEGATIVE_INFINITY;
    const answerMs = Math.min(this.#delayMs, now - this.#testedAt);
    this.#lateMs = this.#testedAt - this.#firstTestAt + answerMs;
  }

  get #delayMs(): number {
    return Math.min(DELAY_MS, DELAY_PART * this.#windowMs);
  }

  #testAgain(now: number): void {
    this.#isTested = false;
    this.#endsAt = now + this.#delayMs * 2 ** (this.#tests - 1);
    this.#heldUntil = this.#endsAt;
  }
}

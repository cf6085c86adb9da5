/**
 * A model of the `adaptive` retry mode of the AWS SDKs: the rate limiter of the Smithy retry
 * specification (a token bucket whose rate follows CUBIC, RFC 9438, after the measured rate of
 * sending), before the attempts of its standard mode. Sources: the SDK reference guide, "Retry
 * behavior"; @smithy/util-retry 4.6 for the constants. Times in seconds.
 */
import type { Clock } from 'headgate';
import pLimit from 'p-limit';
import type { ClientContext, HandOver } from '../client.ts';
import type { Prompt } from '../prompts.ts';
import { documented } from './documented.ts';
import { fullJitter, isThrottle, sleep } from './helpers.ts';

const BETA = 0.7;
const SCALE_CONSTANT = 0.4;
const SMOOTH = 0.8;
const MIN_FILL_RATE = 0.5;
const MIN_CAPACITY = 1;
/** The rate is measured twice a second. */
const MEASURES_PER_SECOND = 2;

/** Delays of the standard mode after a throttling error. */
const BASE_MS = 500;
const MOST_MS = 20_000;
const MAX_ATTEMPTS = 3;
/** A retry takes 5 of 500 tokens. A successful retry returns 5, a successful first attempt 1. */
const RETRY_TOKENS = 500;
const RETRY_COST = 5;

class RateLimiter {
  readonly #clock: Clock;
  readonly #startSeconds: number;
  #isEnabled = false;
  #fillRate = 0;
  #maxCapacity = 0;
  #capacity = 0;
  #refilledAt: number;
  #measuredRate = 0;
  #measuredAt: number;
  #requests = 0;
  #lastMaxRate = 0;
  #throttledAt: number;

  /** @param startSeconds the wall clock at the start, with which the rate is measured */
  constructor(clock: Clock, startSeconds: number) {
    this.#clock = clock;
    this.#startSeconds = startSeconds;
    this.#refilledAt = this.#throttledAt = this.#now();
    this.#measuredAt = Math.floor(this.#now());
  }

  async take(): Promise<void> {
    if (!this.#isEnabled) return;
    this.#refill();
    while (this.#capacity < 1) {
      const missingMs = ((1 - this.#capacity) / this.#fillRate) * 1000;
      // The platform's timers have a resolution of 1 ms.
      await sleep(this.#clock, Math.ceil(missingMs));
      this.#refill();
    }
    this.#capacity -= 1;
  }

  update(wasThrottled: boolean): void {
    this.#measure();
    const now = this.#now();
    let rate: number;
    if (wasThrottled) {
      rate = this.#isEnabled ? Math.min(this.#measuredRate, this.#fillRate) : this.#measuredRate;
      this.#lastMaxRate = rate;
      this.#throttledAt = now;
      this.#isEnabled = true;
      rate *= BETA;
    } else {
      const plateau = Math.cbrt((this.#lastMaxRate * (1 - BETA)) / SCALE_CONSTANT);
      rate = SCALE_CONSTANT * (now - this.#throttledAt - plateau) ** 3 + this.#lastMaxRate;
    }
    this.#setRate(Math.min(rate, 2 * this.#measuredRate));
  }

  #setRate(rate: number): void {
    this.#refill();
    this.#fillRate = Math.max(rate, MIN_FILL_RATE);
    this.#maxCapacity = Math.max(rate, MIN_CAPACITY);
    this.#capacity = Math.min(this.#capacity, this.#maxCapacity);
  }

  #refill(): void {
    const now = this.#now();
    const added = (now - this.#refilledAt) * this.#fillRate;
    this.#capacity = Math.min(this.#maxCapacity, this.#capacity + added);
    this.#refilledAt = now;
  }

  #measure(): void {
    const at = Math.floor(this.#now() * MEASURES_PER_SECOND) / MEASURES_PER_SECOND;
    this.#requests++;
    if (at <= this.#measuredAt) return;
    const rate = this.#requests / (at - this.#measuredAt);
    this.#measuredRate = rate * SMOOTH + this.#measuredRate * (1 - SMOOTH);
    this.#requests = 0;
    this.#measuredAt = at;
  }

  #now(): number {
    return this.#startSeconds + this.#clock.now() / 1000;
  }
}

export function aws({ clock, random, scenario, send, lost }: ClientContext): HandOver {
  const limiter = new RateLimiter(clock, random());
  // The HTTP agent's default number of connections.
  const limit = pLimit(documented(scenario).inFlight);
  let retryTokens = RETRY_TOKENS;

  async function run(prompt: Prompt): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      await limiter.take();
      try {
        await send(prompt);
        limiter.update(false);
        const refund = attempt === 1 ? 1 : RETRY_COST;
        retryTokens = Math.min(RETRY_TOKENS, retryTokens + refund);
        return;
      } catch (error) {
        limiter.update(isThrottle(error));
        if (attempt === MAX_ATTEMPTS || retryTokens < RETRY_COST) return lost(prompt);
        retryTokens -= RETRY_COST;
        await sleep(clock, fullJitter(random, attempt, BASE_MS, MOST_MS));
      }
    }
  }
  return (prompt) => {
    limit(run, prompt);
  };
}

/**
 * A model of gentlify after its technical specification: at three failures in a minute the slots
 * halve and the minimum interval doubles, and one step is taken back a minute later. It has the
 * defaults, except for the largest concurrency and the minimum interval, which the user sets. The
 * user also makes the retries, each with a new `acquire`.
 */
import type { Clock, Random } from 'headgate';
import type { ClientContext, HandOver } from '../client.ts';
import type { Prompt } from '../prompts.ts';
import { documented } from './documented.ts';
import { fullJitter, sleep } from './helpers.ts';

const FAILURE_THRESHOLD = 3;
const FAILURE_WINDOW_MS = 60_000;
const COOLING_MS = 60_000;
const CEILING_DECAY_MS = 5 * COOLING_MS;
const MAX_INTERVAL_MS = 30_000;
const JITTER = 0.5;

const BASE_MS = 1000;
const MOST_MS = 30_000;

class Throttle {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #most: number;
  readonly #leastIntervalMs: number;
  readonly #waiting: (() => void)[] = [];
  #limit: number;
  #ceiling: number;
  #inFlight = 0;
  #intervalMs: number;
  #dispatchedAt = Number.NEGATIVE_INFINITY;
  #failures: number[] = [];
  #coolingSince: number | undefined;
  #failedAt = 0;

  constructor(clock: Clock, random: Random, concurrency: number, intervalMs: number) {
    this.#clock = clock;
    this.#random = random;
    this.#most = this.#limit = this.#ceiling = concurrency;
    this.#leastIntervalMs = this.#intervalMs = intervalMs;
  }

  async acquire(): Promise<void> {
    if (this.#inFlight < this.#limit) this.#inFlight++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    // A waiting request reserves nothing, so waiters may be sent together, as in the specification.
    const leftMs = this.#intervalMs - (this.#clock.now() - this.#dispatchedAt);
    const jitterMs = this.#random() * JITTER * this.#intervalMs;
    await sleep(this.#clock, Math.max(0, leftMs) + jitterMs);
    this.#dispatchedAt = this.#clock.now();
  }

  succeeded(): void {
    const now = this.#clock.now();
    if (this.#coolingSince !== undefined && now - this.#coolingSince >= COOLING_MS) {
      this.#coolingSince = undefined;
      this.#limit = Math.min(this.#ceiling, this.#limit + 1);
      this.#intervalMs = Math.max(this.#leastIntervalMs, this.#intervalMs / 2);
    }
    if (this.#ceiling < this.#most && now - this.#failedAt >= CEILING_DECAY_MS) {
      this.#ceiling = this.#limit = this.#most;
    }
    this.#release();
  }

  failed(): void {
    const now = this.#clock.now();
    this.#failedAt = now;
    this.#failures = this.#failures.filter((at) => now - at < FAILURE_WINDOW_MS);
    this.#failures.push(now);
    if (this.#failures.length >= FAILURE_THRESHOLD) {
      this.#ceiling = this.#limit;
      this.#limit = Math.max(1, Math.floor(this.#limit / 2));
      this.#intervalMs = Math.min(MAX_INTERVAL_MS, this.#intervalMs * 2);
      this.#failures = [];
      this.#coolingSince = now;
    }
    this.#release();
  }

  #release(): void {
    this.#inFlight--;
    while (this.#inFlight < this.#limit) {
      const wake = this.#waiting.shift();
      if (wake === undefined) return;
      this.#inFlight++;
      wake();
    }
  }
}

export function gentlify({ clock, random, scenario, send }: ClientContext): HandOver {
  const { inFlight } = documented(scenario);
  // Twice the provider's rate, so that failures have to find the rate.
  const intervalMs = (500 * scenario.workers) / scenario.perSecond;
  const throttle = new Throttle(clock, random, inFlight, intervalMs);

  async function run(prompt: Prompt): Promise<void> {
    for (let failures = 1; ; failures++) {
      await throttle.acquire();
      try {
        await send(prompt);
        throttle.succeeded();
        return;
      } catch {
        throttle.failed();
        await sleep(clock, fullJitter(random, failures, BASE_MS, MOST_MS));
      }
    }
  }
  return (prompt) => {
    run(prompt);
  };
}

import { checkBetween, checkBoolean, checkInteger } from '../util/check.ts';
import {
  type GradientOptions,
  type GradientSettings,
  gradientSettings,
} from './gradient-options.ts';

/** The number of values whose plain mean is used before old values fade (Netflix: 10). */
const WARM_UP = 10;

/**
 * A mean in which old values fade: after the warm-up each new value weighs 2 / (window + 1), the
 * usual weight of an exponential average over `window` values.
 */
export class ExponentialAverage {
  value = 0;
  readonly #weight: number;
  #count = 0;

  constructor(window: number) {
    this.#weight = 2 / (window + 1);
  }

  /** Whether the warm-up is over. */
  get isWarm(): boolean {
    return this.#count >= WARM_UP;
  }

  add(value: number): void {
    this.#count = Math.min(WARM_UP + 1, this.#count + 1);
    const weight = this.#count <= WARM_UP ? 1 / this.#count : this.#weight;
    this.value += (value - this.value) * weight;
  }
}

/**
 * Samples for one adjustment (Netflix, WindowedLimit: 10), but no more than are in flight at once.
 */
const WINDOW_SAMPLES = 10;
/** Windows in the long average (Netflix: 600). */
const LONG_WINDOWS = 600;
/**
 * One adjustment takes half of the limit at the most, so that an outlier does no more (Netflix).
 */
const MIN_GRADIENT = 0.5;
/** A long average of more than this multiple of the present latency is out of date (Netflix). */
const STALE_RATIO = 2;
/** The factor of an outdated long average at each window (Netflix). */
const STALE_DECAY = 0.9;

/** One ended attempt. */
export interface GradientSample {
  /** The time from sending to the end, in ms, >= 0. */
  readonly latencyMs: number;
  /** Requests in flight when it was sent, itself included, an integer >= 0. */
  readonly inFlight: number;
  /** Whether the server refused it or let it time out (429, 503, 529). */
  readonly dropped: boolean;
  /** The tokens that the server generated. */
  readonly tokens?: number | undefined;
}

export interface GradientSnapshot {
  readonly limit: number;
  readonly minLimit: number;
  readonly maxLimit: number;
  /** The latency per request (or token) in the last window, in ms; undefined before the first. */
  readonly shortLatencyMs: number | undefined;
  /** The long average of the same. */
  readonly longLatencyMs: number | undefined;
}

/**
 * A concurrency limit for servers that never answer 429: it shrinks when latency grows beyond its
 * long average, since requests then queue in the server, and otherwise grows by a small queue.
 *
 * The rule is Gradient2 of Netflix's concurrency-limits (github.com/Netflix/concurrency-limits;
 * Landau, Thurston and Bozarth, "Performance Under Load", Netflix Technology Blog, 2018), as are
 * the constants marked so. There are two differences. Gradient2 ignores drops. Here each drop
 * multiplies the limit, once a round trip: drops of requests that were sent before the last cut are
 * ignored. And Gradient2 adds every latency to its long average, even if its own queue caused it,
 * so that a client with a constant backlog drifts up to the maximum within minutes. Here a latency
 * more than half way to the tolerance is left out, because our own queue may be its cause. If it
 * stays high after the limit has fallen to half, the server itself is slower, and the latency is
 * added again.
 */
export class Gradient {
  #settings: GradientSettings;
  readonly #long = new ExponentialAverage(LONG_WINDOWS);
  #shortMs: number | undefined;
  #estimate: number;
  /** The limit at which latency rose; undefined while latency is near its long average. */
  #suspectFrom: number | undefined;
  #cutAt = Number.NEGATIVE_INFINITY;
  #windowSince: number | undefined;
  #samples = 0;
  #latencyMs = 0;
  #work = 0;
  #mostInFlight = 0;

  /** @throws RangeError or TypeError that names a wrong option */
  constructor(options: GradientOptions) {
    this.#settings = gradientSettings(options);
    this.#estimate = this.#settings.initialLimit;
  }

  /** Whether samples count by their tokens. */
  get isPerToken(): boolean {
    return this.#settings.per === 'token';
  }

  /** Requests at once. */
  get limit(): number {
    return Math.floor(this.#estimate);
  }

  /**
   * An attempt has ended.
   * @returns the limit from now on
   * @throws RangeError or TypeError if a field of the sample is no number
   */
  sample({ latencyMs, inFlight, dropped, tokens = 0 }: GradientSample, now: number): number {
    checkBetween('latencyMs', latencyMs, 0, Number.MAX_SAFE_INTEGER);
    checkInteger('inFlight', inFlight, 0);
    checkBoolean('dropped', dropped);
    checkBetween('tokens', tokens, 0, Number.MAX_SAFE_INTEGER);
    if (dropped) {
      if (now - latencyMs > this.#cutAt) this.#cut(now);
      return this.limit;
    }
    const work = this.isPerToken ? tokens : 1;
    if (work === 0) return this.limit;
    this.#windowSince ??= now;
    this.#samples += 1;
    this.#latencyMs += latencyMs;
    this.#work += work;
    this.#mostInFlight = Math.max(this.#mostInFlight, inFlight);
    const enough = this.#samples >= Math.min(WINDOW_SAMPLES, this.limit);
    if (enough && now - this.#windowSince >= this.#settings.windowMs) this.#adjust(now);
    return this.limit;
  }

  /** Changes the maximum, and lowers a limit above it. */
  setMaxLimit(maxLimit: number): void {
    checkInteger('maxLimit', maxLimit, 1);
    const minLimit = Math.min(this.#settings.minLimit, maxLimit);
    this.#settings = { ...this.#settings, maxLimit, minLimit };
    this.#estimate = this.#bounded(this.#estimate);
  }

  snapshot(): GradientSnapshot {
    const { minLimit, maxLimit } = this.#settings;
    const longLatencyMs = this.#shortMs === undefined ? undefined : this.#long.value;
    return { limit: this.limit, minLimit, maxLimit, shortLatencyMs: this.#shortMs, longLatencyMs };
  }

  #cut(now: number): void {
    this.#cutAt = now;
    this.#estimate = this.#bounded(this.#estimate * this.#settings.backoffRatio);
    this.#openWindow(now);
  }

  #adjust(now: number): void {
    const { tolerance, smoothing, queueSize = Math.sqrt(this.#estimate) } = this.#settings;
    const shortMs = this.#latencyMs / this.#work;
    const mostInFlight = this.#mostInFlight;
    this.#openWindow(now);
    this.#shortMs = shortMs;
    const ratio = this.#learn(shortMs);
    // With fewer requests than the limit allows, latency says nothing about the limit.
    if (mostInFlight < this.#estimate / 2) return;
    const gradient = Math.max(MIN_GRADIENT, Math.min(1, tolerance * ratio));
    const target = this.#estimate * gradient + queueSize;
    this.#estimate = this.#bounded(this.#estimate * (1 - smoothing) + target * smoothing);
  }

  /**
   * Adds the latency of a window to the long average, unless our own requests raised it. Returns
   * the long average as a multiple of the latency.
   */
  #learn(shortMs: number): number {
    const suspectMs = (this.#long.value * (1 + this.#settings.tolerance)) / 2;
    if (shortMs <= suspectMs) this.#suspectFrom = undefined;
    else this.#suspectFrom ??= this.#estimate;
    const ours = this.#suspectFrom !== undefined && this.#estimate > this.#suspectFrom / 2;
    if (!ours || !this.#long.isWarm) this.#long.add(shortMs);
    const ratio = shortMs > 0 ? this.#long.value / shortMs : 1;
    if (ratio > STALE_RATIO) this.#long.value *= STALE_DECAY;
    return ratio;
  }

  #openWindow(now: number): void {
    this.#windowSince = now;
    this.#samples = 0;
    this.#latencyMs = 0;
    this.#work = 0;
    this.#mostInFlight = 0;
  }

  #bounded(limit: number): number {
    return Math.max(this.#settings.minLimit, Math.min(this.#settings.maxLimit, limit));
  }
}

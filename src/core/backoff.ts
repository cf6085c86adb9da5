import type { Mode } from '../model/feedback.ts';
import type { Core, Demand, ModeState } from './core.ts';
import { integer, number, type Option, word } from './option.ts';
import type { PolicyDefinition } from './policy-definition.ts';

/** Wait after a 429 that names none, for a request of up to {@link LARGE_REQUEST_BYTES} (seed: 000). */
export const DEFAULT_BACKOFF_MS = 1_000;
/** The same for a larger one (seed: 000). */
export const DEFAULT_LARGE_BACKOFF_MS = 5_000;
/** The largest request that counts as small: 128 KiB, inclusive (seed: 000). */
export const LARGE_REQUEST_BYTES = 128 * 1024;
/** Longest wait that a provider's answer is believed: a minute. */
export const DEFAULT_MAX_RETRY_AFTER_MS = 60_000;
/** Throttled mode outlasts the backoff by this (seed: 000). */
export const DEFAULT_THROTTLED_FOR_MS = 10_000;

/** `probe`: one request tests the water before all go. `all`: everyone goes at once. */
export type Reopen = 'probe' | 'all';

/** How long to back off after a 429. */
export interface BackoffConfig {
  /** Wait after a 429 without retry-after, for a request of up to 128 KiB, in ms, an integer >= 1. Default 1000. */
  readonly backoffMs?: number;
  /** The same for a larger request. Default 5000. */
  readonly largeBackoffMs?: number;
  /** Longest wait that a provider may ask for, in ms, >= 1. Default 60,000. */
  readonly maxRetryAfterMs?: number;
  /** Throttled mode outlasts the backoff by this, in ms, >= 0. Default 10,000. */
  readonly throttledForMs?: number;
  /** `'probe'` (default): one request tests before all go. `'all'`: everyone goes at once. */
  readonly reopen?: Reopen;
}

/** How 429s are answered by fixed rules. */
export interface BackoffOption {
  /** How long to back off after a 429; the rate does not adapt then, unless `adaptive` says so. */
  readonly backoff?: BackoffConfig;
}

export interface BackoffSnapshot {
  /** `probing`: the wait is over, but no request has gone well yet. */
  readonly state: 'open' | 'closed' | 'probing';
  readonly closedForMs: number;
  readonly mode: Mode;
  /** Backoffs so far. */
  readonly epoch: number;
}

/**
 * When to send again after a 429, and whether we are in throttled mode.
 *
 * A backoff is only ever extended. An epoch is the time between two backoffs: answers to attempts
 * of an earlier epoch are late news of the same event.
 */
export class Backoff implements Core<number>, ModeState {
  /** Closed until this time of the clock. */
  until = Number.NEGATIVE_INFINITY;
  throttledUntil = Number.NEGATIVE_INFINITY;
  epoch = 0;
  /** Set from a 429 until a request of the present epoch has gone well. */
  private untested = false;
  /** The number of the probe that is out; 0: none is. */
  private probeOut = 0;
  private probes = 0;
  /** Told that the place of the probe is free. */
  onProbeBack: (() => void) | undefined = undefined;
  private readonly reopen: Reopen;
  private readonly throttledForMs: number;

  constructor(reopen: Reopen, throttledForMs: number) {
    this.reopen = reopen;
    this.throttledForMs = throttledForMs;
  }

  /** Whether the last rejection has not been followed by a success yet. */
  get isUntested(): boolean {
    return this.untested;
  }

  wait(_demand: Demand, now: number): number {
    if (now < this.until) return this.until - now;
    return this.untested && this.probeOut > 0 ? Number.POSITIVE_INFINITY : 0;
  }

  take(): number {
    if (!this.untested) return 0;
    this.probes += 1;
    this.probeOut = this.probes;
    return this.probes;
  }

  /** A probe has ended, well or not: unless it opened the gate, the next one tests. */
  giveBack(probe: number): void {
    if (probe !== this.probeOut) return;
    this.probeOut = 0;
    this.onProbeBack?.();
  }

  snapshot(now: number): BackoffSnapshot {
    const closedForMs = Math.max(0, this.until - now);
    return {
      state: closedForMs > 0 ? 'closed' : this.untested ? 'probing' : 'open',
      closedForMs,
      mode: now < this.throttledUntil ? 'throttled' : 'normal',
      epoch: this.epoch,
    };
  }

  /**
   * The provider rejected an attempt of `epoch` and wants `waitMs` from `now`.
   * @returns whether it starts a new epoch: the first rejection of those in flight does.
   */
  reject(waitMs: number, epoch: number, now: number): boolean {
    this.until = Math.max(this.until, now + waitMs);
    this.throttledUntil = this.until + this.throttledForMs;
    this.untested = this.reopen === 'probe';
    if (epoch < this.epoch) return false;
    this.epoch += 1;
    // What the probe of an earlier epoch will say proves nothing any more.
    this.probeOut = 0;
    return true;
  }

  /** The provider asked to slow down, but nothing is closed for that: the sender's rate adapts. */
  throttle(now: number): void {
    this.throttledUntil = Math.max(this.throttledUntil, now + this.throttledForMs);
  }

  /**
   * The provider accepted an attempt of `epoch`. That proves nothing for one of an earlier epoch,
   * nor while the gate is closed: the attempt was sent before. @returns whether it opens the gate
   */
  accept(epoch: number, now: number): boolean {
    if (!this.untested || epoch < this.epoch || now < this.until) return false;
    this.untested = false;
    // It may take long to end, as a stream does: the next backoff must not wait for it.
    this.probeOut = 0;
    return true;
  }
}

const FIELDS = {
  backoffMs: integer(1, DEFAULT_BACKOFF_MS, 'ms', 'wait after a 429 that names none'),
  largeBackoffMs: integer(1, DEFAULT_LARGE_BACKOFF_MS, 'ms', 'the same, above 128 KiB'),
  maxRetryAfterMs: number(
    1,
    DEFAULT_MAX_RETRY_AFTER_MS,
    'ms',
    'longest wait that a provider may ask for',
  ),
  throttledForMs: number(
    0,
    DEFAULT_THROTTLED_FOR_MS,
    'ms',
    'throttled mode outlasts the backoff by this',
  ),
  reopen: word(['probe', 'all'], 'probe', 'who goes first after a backoff: one, or all at once'),
} satisfies Record<keyof BackoffConfig, Option>;

export const BACKOFF: PolicyDefinition<BackoffOption, Backoff> = {
  kind: 'backoff',
  options: { backoff: { fields: FIELDS } },

  // Throttled mode outlasts the backoff. That no request has tested the end of it yet is not worth a
  // key that may never come again.
  isAtRest: (backoff, now) => now >= backoff.throttledUntil,
};

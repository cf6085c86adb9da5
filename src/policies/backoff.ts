import type { Mode } from '../model/feedback.ts';
import { integer, number, type Option, word } from './option.ts';
import type { ModeState, Policy, RequestCost } from './policy.ts';
import type { PolicyDefinition } from './policy-definition.ts';

/** The wait after a 429 that names none, for a request of up to {@link LARGE_REQUEST_BYTES}. */
export const DEFAULT_BACKOFF_MS = 1_000;
/** The same for a larger request. */
export const DEFAULT_LARGE_BACKOFF_MS = 5_000;
/** The largest size that counts as small: 128 KiB, inclusive. */
export const LARGE_REQUEST_BYTES = 128 * 1024;
/** The longest wait that is accepted from a provider: a minute. */
export const DEFAULT_MAX_RETRY_AFTER_MS = 60_000;
/** How long throttled mode lasts after the backoff. */
export const DEFAULT_THROTTLED_FOR_MS = 10_000;

/**
 * `probe`: one request is sent first, the others after it succeeded. `all`: all are sent at once.
 */
export type Reopen = 'probe' | 'all';

/** Options of the backoff after a 429. */
export interface BackoffConfig {
  /** Wait after a 429 without retry-after, for a request of up to 128 KiB, in ms, an integer >= 1. Default 1000. */
  readonly backoffMs?: number;
  /** The same for a larger request. Default 5000. */
  readonly largeBackoffMs?: number;
  /** Longest wait that a provider may ask for, in ms, >= 1. Default 60,000. */
  readonly maxRetryAfterMs?: number;
  /** How long throttled mode lasts after the backoff, in ms, >= 0. Default 10,000. */
  readonly throttledForMs?: number;
  /**
   * `'instrumentation'` (default): one request is sent first, the others after it succeeded. `'all'`: all at
   * once.
   */
  readonly reopen?: Reopen;
}

/** The fixed rules for 429s. */
export interface BackoffOption {
  /**
   * Options of the backoff after a 429. With them the rate does not adapt, unless `adaptive` is
   * given.
   */
  readonly backoff?: BackoffConfig;
}

export interface BackoffSnapshot {
  /** `probing`: the wait is over, but no request has succeeded yet. */
  readonly state: 'open' | 'closed' | 'probing';
  readonly closedForMs: number;
  readonly mode: Mode;
  /** Backoffs so far. */
  readonly epoch: number;
}

/**
 * Decides when to send again after a 429, and keeps throttled mode.
 *
 * A backoff is only ever extended. An epoch is the time between two backoffs: answers to attempts
 * of an earlier epoch are late news of the same event.
 */
export class Backoff implements Policy<number>, ModeState {
  /** Closed until this time of the clock. */
  until = Number.NEGATIVE_INFINITY;
  throttledUntil = Number.NEGATIVE_INFINITY;
  epoch = 0;
  /** Set from a 429 until a request of the present epoch has succeeded. */
  private untested = false;
  /** The number of the probe in flight; 0 if there is none. */
  private probeOut = 0;
  private probes = 0;
  /** Called when the place of the probe is free. */
  onProbeBack: (() => void) | undefined = undefined;
  private reopen: Reopen;
  private throttledForMs: number;

  constructor(reopen: Reopen, throttledForMs: number) {
    this.reopen = reopen;
    this.throttledForMs = throttledForMs;
  }

  /** From the next rejection on. */
  configure(reopen: Reopen, throttledForMs: number): void {
    this.reopen = reopen;
    this.throttledForMs = throttledForMs;
  }

  /** Whether no request has succeeded since the last rejection. */
  get isUntested(): boolean {
    return this.untested;
  }

  wait(_demand: RequestCost, now: number): number {
    if (now < this.until) return this.until - now;
    return this.untested && this.probeOut > 0 ? Number.POSITIVE_INFINITY : 0;
  }

  take(): number {
    if (!this.untested) return 0;
    this.probes += 1;
    this.probeOut = this.probes;
    return this.probes;
  }

  /** A probe has ended. Unless it opened the gate, the next request is the probe. */
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
   * @returns whether it starts a new epoch, as the first rejection of the requests in flight does.
   */
  reject(waitMs: number, epoch: number, now: number): boolean {
    this.until = Math.max(this.until, now + waitMs);
    this.throttledUntil = this.until + this.throttledForMs;
    this.untested = this.reopen === 'probe';
    if (epoch < this.epoch) return false;
    this.epoch += 1;
    // The result of an earlier epoch's probe proves nothing any more.
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
    // It may take long to end, as a stream: the next backoff must not wait for it.
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

export const BACKOFF: PolicyDefinition<BackoffOption, Backoff, BackoffOption, 'backoffActive'> = {
  kind: 'backoff',
  options: { backoff: { fields: FIELDS } },

  // Throttled mode outlasts the backoff. An end of the backoff that no request has tested is not
  // worth keeping a key that may never be used again.
  isAtRest: (backoff, now) => now >= backoff.throttledUntil,

  metrics: {
    backoffActive: {
      name: 'headgate.backoff.active',
      unit: '1',
      meaning: '1: the backoff gate is closed',
      together: 'greatest',
    },
  },

  measure: (backoff, now) => ({
    backoffActive: backoff.snapshot(now).state === 'closed' ? 1 : 0,
  }),
};

/** Adapts a shared backoff to a policy, so that a gate can ask it together with others. */
export class BackoffPart implements Policy<number> {
  readonly binding = 'backoff';
  private readonly backoff: Backoff;
  private readonly onBlocked: () => void;

  /** @param onBlocked called when a request waits for the end of a probe, which no timer tells */
  constructor(backoff: Backoff, onBlocked: () => void) {
    this.backoff = backoff;
    this.onBlocked = onBlocked;
  }

  wait(request: RequestCost, now: number): number {
    const waitMs = this.backoff.wait(request, now);
    if (waitMs === Number.POSITIVE_INFINITY) this.onBlocked();
    return waitMs;
  }

  take(): number {
    return this.backoff.take();
  }

  giveBack(probe: number): void {
    this.backoff.giveBack(probe);
  }

  snapshot(now: number): object {
    return this.backoff.snapshot(now);
  }
}

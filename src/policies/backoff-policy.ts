import type { Backoff, OnLongWait, Reopen } from './backoff.ts';
import { integer, number, type Option, orInfinity, word } from './option.ts';
import { DEFAULT_OUTAGE_MS } from './outage.ts';
import type { Policy, PolicyDefinition, RequestCost } from './policy.ts';

/** The wait after a 429 that names none, for a request of up to {@link LARGE_REQUEST_BYTES}. */
export const DEFAULT_BACKOFF_MS = 1_000;
/** The same for a larger request. */
const DEFAULT_LARGE_BACKOFF_MS = 5_000;
/** The largest size that counts as small: 128 KiB, inclusive. */
export const LARGE_REQUEST_BYTES = 128 * 1024;
/** The longest wait that is waited out without a decision: 10 minutes. */
export const DEFAULT_MAX_RETRY_AFTER_MS = 600_000;
/** How long throttled mode lasts after the backoff. */
const DEFAULT_THROTTLED_FOR_MS = 10_000;

/** Options of the backoff after a 429. */
export interface BackoffConfig {
  /**
   * Wait after a 429 without retry-after, for a request of up to 128 KiB, in ms, an integer >= 1.
   * Default 1000.
   */
  readonly backoffMs?: number;
  /** The same for a larger request. Default 5000. */
  readonly largeBackoffMs?: number;
  /** How long throttled mode lasts after the backoff, in ms, >= 0. Default 10,000. */
  readonly throttledForMs?: number;
  /**
   * `'probe'` (default): one request is sent first, the others after it succeeded. `'all'`: all at
   * once.
   */
  readonly reopen?: Reopen;
}

/** When to send again after a 429, a used-up quota, or an outage. */
export interface BackoffOption {
  /**
   * Options of the backoff after a 429. With them the rate does not adapt, unless `adaptive` is
   * given; beside `adaptive: 'rate'` they apply where a named wait closes the gate.
   */
  readonly backoff?: BackoffConfig;
  /**
   * The longest wait that a provider may ask for, in ms, >= 1; see `onLongWait`. Default 600,000.
   */
  readonly maxRetryAfterMs?: number;
  /**
   * What happens when the provider asks for a longer wait. `'fail'` (default): all waiting requests
   * fail at once with a `RetryAfterTooLongError`, as do those that arrive before it is over.
   * `'wait'`: all wait. A used-up quota counts as such a wait if the provider names its end.
   */
  readonly onLongWait?: OnLongWait;
  /**
   * How long requests wait for a provider that cannot be reached (connections refused or reset, no
   * address), in ms, >= 0. Single probes are sent meanwhile; then waiting requests fail with a
   * `ProviderUnreachableError`. Infinity: no bound. Default 600,000.
   */
  readonly outageMs?: number;
}

const FIELDS = {
  backoffMs: integer(1, DEFAULT_BACKOFF_MS, 'ms', 'wait after a 429 that names no wait'),
  largeBackoffMs: integer(
    1,
    DEFAULT_LARGE_BACKOFF_MS,
    'ms',
    'the same for a request above 128 KiB',
  ),
  throttledForMs: number(
    0,
    DEFAULT_THROTTLED_FOR_MS,
    'ms',
    'time that throttled mode lasts after the backoff',
  ),
  reopen: word(
    ['probe', 'all'],
    'probe',
    'whether one request is sent first after a backoff, or all at once',
  ),
} satisfies Record<keyof BackoffConfig, Option>;

/** Options of long waits and outages. */
const PROVIDER_FIELDS = {
  maxRetryAfterMs: number(
    1,
    DEFAULT_MAX_RETRY_AFTER_MS,
    'ms',
    'longest wait that a provider may ask for',
  ),
  onLongWait: word(
    ['fail', 'wait'],
    'fail',
    'whether all requests fail or wait if the provider asks for a longer wait',
  ),
  outageMs: orInfinity(
    number(
      0,
      DEFAULT_OUTAGE_MS,
      'ms',
      'how long requests wait for a provider that cannot be reached',
    ),
  ),
} satisfies Record<Exclude<keyof BackoffOption, 'backoff'>, Option>;

/** The defaults of the options of a `FeedbackSubject`. */
export const BACKOFF_DEFAULTS = {
  backoffMs: DEFAULT_BACKOFF_MS,
  largeBackoffMs: DEFAULT_LARGE_BACKOFF_MS,
  throttledForMs: DEFAULT_THROTTLED_FOR_MS,
  reopen: 'probe',
  maxRetryAfterMs: DEFAULT_MAX_RETRY_AFTER_MS,
  onLongWait: 'fail',
  outageMs: DEFAULT_OUTAGE_MS,
} as const;

/** The options of a `FeedbackSubject`, which has the backoff's options and others at one level. */
export const FEEDBACK_OPTIONS = { ...FIELDS, ...PROVIDER_FIELDS };

export const BACKOFF: PolicyDefinition<
  BackoffOption,
  Backoff,
  BackoffOption,
  'backoffActive' | 'outage' | 'suspended'
> = {
  kind: 'backoff',
  options: { backoff: { fields: FIELDS }, ...PROVIDER_FIELDS },

  // Throttled mode outlasts the backoff. A backoff that has ended, but was not tested by a request
  // yet, is no reason to keep a key that may never be used again.
  isAtRest: (backoff, now) => now >= backoff.throttledUntil && !backoff.hasOutage,

  metrics: {
    backoffActive: {
      name: 'headgate.backoff.active',
      unit: '1',
      meaning: '1: the backoff gate is closed',
      together: 'greatest',
    },
    outage: {
      name: 'headgate.outage.active',
      unit: '1',
      meaning: '1: the API cannot be reached or rejects everything, and single probes are sent',
      together: 'greatest',
    },
    suspended: {
      name: 'headgate.suspended',
      unit: '1',
      meaning: '1: the API accepts nothing for long (a long wait, a used-up quota or credit)',
      together: 'greatest',
    },
  },

  measure(backoff, now) {
    const { state, suspended } = backoff.snapshot(now);
    return {
      backoffActive: state === 'closed' ? 1 : 0,
      outage: backoff.hasOutage ? 1 : 0,
      suspended: suspended === undefined ? 0 : 1,
    };
  },
};

/** Adapts a shared backoff to a policy, so that a gate can ask it together with others. */
export class BackoffPart implements Policy<number> {
  readonly binding = 'backoff';
  readonly #backoff: Backoff;
  readonly #onBlocked: () => void;

  /** @param onBlocked called when a request waits for an answer, and no timer ends its wait */
  constructor(backoff: Backoff, onBlocked: () => void) {
    this.#backoff = backoff;
    this.#onBlocked = onBlocked;
  }

  wait(request: RequestCost, now: number): number {
    const waitMs = this.#backoff.wait(request, now);
    if (waitMs > 0 && this.#backoff.mayOpenEarly) this.#onBlocked();
    return waitMs;
  }

  take(request: RequestCost, now: number): number {
    return this.#backoff.take(request, now);
  }

  giveBack(probe: number): void {
    this.#backoff.giveBack(probe);
  }

  snapshot(now: number): object {
    return this.#backoff.snapshot(now);
  }
}

import { HeadgateError } from '../model/errors.ts';
import { checkOptions, integer, number, type Option, upTo, word } from './option.ts';
import type { Naming } from './policy.ts';
import type { RecentOutcomes } from './rolling-window.ts';

/** Consecutive failures that open the circuit. */
const DEFAULT_CONSECUTIVE_FAILURES = 10;
/** How long it stays open at first. */
const DEFAULT_OPEN_MS = 30_000;
/** Probes that must succeed to close it. */
const DEFAULT_HALF_OPEN_PROBES = 1;
/** The window of `failureRatio`, as in Polly's circuit breaker. */
const DEFAULT_RATIO_WINDOW_MS = 30_000;
/**
 * The least number of requests in the window before `failureRatio` applies, as in Netflix's
 * Hystrix.
 */
const DEFAULT_LEAST_REQUESTS = 20;

/** When a circuit breaker opens, for how long, and what closes it. */
export interface CircuitBreakerOptions {
  /**
   * Failures in a row that open the circuit, an integer >= 1. Default 10; where `failureRatio` is
   * given, they open it only if this is given too.
   */
  readonly consecutiveFailures?: number;
  /**
   * The share of failures among the requests of the last `windowMs` that opens the circuit, a
   * number from 0 to 1. Default: off.
   */
  readonly failureRatio?: number;
  /** The window of `failureRatio`, in milliseconds, >= 1. Default 30,000. */
  readonly windowMs?: number;
  /**
   * The least number of requests in the window before `failureRatio` applies, an integer >= 1.
   * Default 20.
   */
  readonly leastRequests?: number;
  /**
   * How long it stays open before the first probe, in milliseconds, a number >= 0. Each failed probe
   * doubles the time, up to five times this. Default 30,000.
   */
  readonly openMs?: number;
  /**
   * Probes that must succeed to close it, an integer >= 1; as many may be in flight at once.
   * Default 1.
   */
  readonly halfOpenProbes?: number;
}

/** What happens to requests while the circuit is open. */
export type OnOpen = 'fail' | 'wait';

/** Options of the circuit breaker. */
export interface CircuitBreakerConfig extends CircuitBreakerOptions {
  /**
   * What happens to requests while the circuit is open: they wait for its probe (`'wait'`), or fail
   * at once (`'fail'`). Default: requests of streams wait, but fail if the provider refuses the key
   * (401); `run`, `wrap`, `acquire`, `use` and `fetch` fail.
   */
  readonly onOpen?: OnOpen;
}

export const CIRCUIT_FIELDS = {
  consecutiveFailures: integer(
    1,
    DEFAULT_CONSECUTIVE_FAILURES,
    'requests',
    'consecutive failures that open the circuit; off if only `failureRatio` is given',
  ),
  failureRatio: upTo(
    1,
    number(0, 'off', '× requests', 'share of failures among the last requests that opens it'),
  ),
  windowMs: number(1, DEFAULT_RATIO_WINDOW_MS, 'ms', 'window in which `failureRatio` is measured'),
  leastRequests: integer(
    1,
    DEFAULT_LEAST_REQUESTS,
    'requests',
    'fewest ended requests in the window for which `failureRatio` counts',
  ),
  openMs: number(0, DEFAULT_OPEN_MS, 'ms', 'time that it stays open at first'),
  halfOpenProbes: integer(
    1,
    DEFAULT_HALF_OPEN_PROBES,
    'requests',
    'successful probes that close it',
  ),
  onOpen: word(
    ['fail', 'wait'],
    'wait (streams), fail (calls)',
    'whether requests wait or fail while it is open',
  ),
} satisfies Record<keyof CircuitBreakerConfig, Option>;

/** Checked options of a breaker with their defaults; undefined: `failureRatio` is off. */
export interface CircuitSettings extends Required<Omit<CircuitBreakerOptions, 'failureRatio'>> {
  readonly failureRatio: number | undefined;
}

/** @throws TypeError for an option that only `failureRatio` reads, if that is not given */
export function checkRatioOptions(
  options: CircuitBreakerOptions,
  nameOf: Naming = (path) => path,
): void {
  if (options.failureRatio !== undefined) return;
  for (const key of ['windowMs', 'leastRequests'] as const) {
    const value = options[key];
    if (value === undefined) continue;
    const [name, ratio] = [nameOf(key), nameOf('failureRatio')];
    throw new TypeError(`\`${name}\` belongs to \`${ratio}\`, which is not given; got ${value}`);
  }
}

/** @throws RangeError or TypeError that names a wrong option */
export function circuitSettings(options: CircuitBreakerOptions): CircuitSettings {
  checkOptions(CIRCUIT_FIELDS, options);
  checkRatioOptions(options);
  const { failureRatio, windowMs = DEFAULT_RATIO_WINDOW_MS } = options;
  const inRow =
    failureRatio === undefined ? DEFAULT_CONSECUTIVE_FAILURES : Number.POSITIVE_INFINITY;
  const { consecutiveFailures = inRow, leastRequests = DEFAULT_LEAST_REQUESTS } = options;
  const { openMs = DEFAULT_OPEN_MS, halfOpenProbes = DEFAULT_HALF_OPEN_PROBES } = options;
  return { consecutiveFailures, failureRatio, leastRequests, windowMs, openMs, halfOpenProbes };
}

export type CircuitState = 'closed' | 'open' | 'half-open';

/**
 * The result of an attempt for the circuit. `ignored`: it was cancelled, or excluded by a
 * predicate. `fatal`: another attempt cannot help, with the reason.
 */
export type CircuitResult = 'ok' | 'failed' | 'ignored' | { readonly fatal: string };

export interface CircuitSnapshot {
  /** `open` while it is isolated. */
  readonly state: CircuitState;
  /** Whether `circuit.isolate` keeps it open. */
  readonly isIsolated: boolean;
  /** Consecutive failures. */
  readonly failures: number;
  /** The share of failures in the last `windowMs`; undefined without `failureRatio`. */
  readonly recent: RecentOutcomes | undefined;
  /** The time until a probe may go, in ms; 0 unless open, Infinity while it is isolated. */
  readonly retryAfterMs: number;
  /** Probes in flight. */
  readonly probes: number;
  readonly reason: string | undefined;
}

/** The state of a circuit breaker as plain data for JSON. Times are durations in ms. */
export interface CircuitExport {
  readonly version: 1;
  readonly state: CircuitState;
  /** In a row. */
  readonly failures: number;
  /** The length of the present or last opening. */
  readonly openMs: number;
  /** The time until a probe may go, in ms; 0 unless open. */
  readonly leftMs: number;
  readonly recent?: RecentOutcomes;
  readonly reason?: string;
}

/** The circuit is open: the request was not sent, to spare a failing provider. */
export class CircuitOpenError extends HeadgateError {
  readonly code = 'CIRCUIT_OPEN';
  /**
   * The time before which another attempt is useless, in whole ms; Infinity while it is isolated.
   */
  readonly retryAfterMs: number;
  /**
   * Why it opened at once (quota, billing, authorisation) or was isolated; undefined if failures
   * opened it.
   */
  readonly reason: string | undefined;

  override get name(): string {
    return 'CircuitOpenError';
  }

  constructor(retryAfterMs: number, reason?: string) {
    const why = reason === undefined ? '' : ` (${reason})`;
    const when =
      retryAfterMs === Number.POSITIVE_INFINITY
        ? 'until its isolation ends'
        : `ask again in ${retryAfterMs} ms`;
    super(`the circuit is open${why}: ${when}`);
    this.retryAfterMs = retryAfterMs;
    this.reason = reason;
  }
}

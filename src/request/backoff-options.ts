import { checkInstrumentation, type Instrumentation } from '../model/instrumentation.ts';
import type { OnLongWait, Reopen } from '../policies/backoff.ts';
import { checkChoice, checkInteger, checkKeys, checkNumber } from '../util/check.ts';
import { type Clock, checkClock } from '../util/clock.ts';

export interface BackoffOptions {
  /** Wait after a 429 without retry-after, for a request of up to 128 KiB. Default 1000 ms. */
  readonly backoffMs?: number;
  /** The same for a larger request. Default 5000 ms. */
  readonly largeBackoffMs?: number;
  /** Longest wait that a provider may ask for. Default 600,000 ms. */
  readonly maxRetryAfterMs?: number;
  /** What all requests do when it asks for a longer one: they fail (default), or wait. */
  readonly onLongWait?: OnLongWait;
  /** How long a provider that cannot be reached is waited for; Infinity: no bound. Default 600,000 ms. */
  readonly outageMs?: number;
  /** How long throttled mode lasts after the backoff ends. Default 10,000 ms. */
  readonly throttledForMs?: number;
  /**
   * `'probe'` (default): one request is sent first, the others after it succeeded. `'all'`: all at
   * once.
   */
  readonly reopen?: Reopen;
  /** Default: real time. */
  readonly clock?: Clock;
  readonly instrumentation?: Instrumentation;
}

/** The options of the backoff itself. */
export const BACKOFF_KEYS = ['backoffMs', 'largeBackoffMs', 'throttledForMs', 'reopen'] as const;

/** Options of long waits and outages. */
export const PROVIDER_KEYS = ['maxRetryAfterMs', 'onLongWait', 'outageMs'] as const;

const KEYS = [...BACKOFF_KEYS, ...PROVIDER_KEYS, 'clock', 'instrumentation'] as const;

/** @throws RangeError or TypeError that names a wrong option */
export function checkBackoffOptions(options: BackoffOptions): void {
  checkKeys('FeedbackSubject', options, KEYS);
  checkClock(options.clock);
  checkInstrumentation(options.instrumentation);
  const { backoffMs, largeBackoffMs, maxRetryAfterMs, throttledForMs, reopen } = options;
  if (backoffMs !== undefined) checkInteger('backoffMs', backoffMs, 1);
  if (largeBackoffMs !== undefined) checkInteger('largeBackoffMs', largeBackoffMs, 1);
  if (maxRetryAfterMs !== undefined) checkNumber('maxRetryAfterMs', maxRetryAfterMs, 1);
  const { onLongWait, outageMs = Number.POSITIVE_INFINITY } = options;
  if (onLongWait !== undefined) checkChoice('onLongWait', onLongWait, ['fail', 'wait']);
  if (outageMs !== Number.POSITIVE_INFINITY) checkNumber('outageMs', outageMs, 0);
  if (throttledForMs !== undefined) checkNumber('throttledForMs', throttledForMs, 0);
  if (reopen !== undefined) checkChoice('reopen', reopen, ['probe', 'all']);
}

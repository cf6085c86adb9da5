import { checkLimiterConfig } from '../options/check-config.ts';
import type { LimiterConfig } from '../options/limiter-config.ts';
import {
  type AttemptOptions,
  type CommonOptions,
  checkSharedOption,
  type SharedOption,
} from '../request/gate-options.ts';
import {
  checkRequestOptions,
  NAMED_REQUEST_KEYS,
  type NamedRequestOptions,
} from '../request/request-options.ts';
import {
  checkResultOptions,
  checkRetryOptions,
  RESULT_KEYS,
  type ResultOptions,
  type RetryOptions,
} from '../request/send-options.ts';
import { checkFunction, checkKeys } from '../util/check.ts';

/** The options of a limiter: plain data, and the others. */
export interface LimiterOptions
  extends LimiterConfig,
    CommonOptions,
    Pick<AttemptOptions, 'isFailure'>,
    Pick<RetryOptions, 'classify' | 'random'>,
    SharedOption {}

/** The options of a limiter that are not plain data and may differ between the keys of a group. */
export const KEY_KEYS = [
  'feedback',
  'clock',
  'instrumentation',
  'isFailure',
  'classify',
  'random',
] as const;
const EXTRA_KEYS = [...KEY_KEYS, 'name', 'telemetry', 'shared'] as const;

/** Options of a stream's requests and results. All limits are the limiter's. */
export interface LimiterThrottleOptions<T> extends ResultOptions, NamedRequestOptions<T> {}

/**
 * Checks the arguments of `throttle` of a limiter or a group.
 * @param name of the method, for errors
 * @throws TypeError that names a wrong option
 */
export function checkThrottle<T>(
  name: string,
  project: unknown,
  options: LimiterThrottleOptions<T>,
): void {
  checkFunction('project', project);
  checkKeys(name, options, [...RESULT_KEYS, ...NAMED_REQUEST_KEYS]);
  checkResultOptions(options);
  checkRequestOptions(options);
}

/** @throws RangeError or TypeError that names a wrong option */
export function checkLimiterOptions(options: LimiterOptions): void {
  checkLimiterConfig('createLimiter', options, EXTRA_KEYS);
  checkRetryOptions(options);
  checkSharedOption(options);
}

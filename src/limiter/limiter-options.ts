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

const THROTTLE_KEYS: readonly string[] = [...RESULT_KEYS, ...NAMED_REQUEST_KEYS];
/** Those of them that calls take, too. */
const CALL_KEYS: readonly string[] = ['costs', 'priority', 'weight', 'id'];

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
  checkKeys(name, options, THROTTLE_KEYS);
  checkResultOptions(options);
  checkRequestOptions(options);
}

/** The options that are probably meant by names of other libraries. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['maxRetries', 'maxAttempts'],
  ['retries', 'maxAttempts'],
  ['rpm', 'requestsPerMinute'],
  ['tpm', 'tokensPerMinute'],
  ['timeout', 'attemptTimeoutMs'],
  ['timeoutMs', 'attemptTimeoutMs'],
  ['interval', 'pace.intervalMs'],
  ['intervalMs', 'pace.intervalMs'],
]);

/**
 * Finds options of other libraries, and those of single requests.
 * @throws TypeError that says what to give instead, or where
 */
export function checkForeign(where: string, owner: 'limiter' | 'group', options: unknown): void {
  for (const key of Object.keys(options ?? {})) {
    const advice = adviceOn(key, owner);
    if (advice !== undefined) throw new TypeError(`\`${key}\` is no option of ${where}; ${advice}`);
  }
}

function adviceOn(key: string, owner: string): string | undefined {
  const meant = OTHER_NAMES.get(key);
  if (meant === 'maxAttempts') return 'did you mean `maxAttempts`? The first attempt counts too';
  if (meant !== undefined) return `did you mean \`${meant}\`?`;
  if (!THROTTLE_KEYS.includes(key)) return undefined;
  const call = CALL_KEYS.includes(key) ? ` or \`${owner}.run\`` : '';
  return `give it to \`${owner}.throttle\`${call}`;
}

/** @throws RangeError or TypeError that names a wrong option */
export function checkLimiterOptions(options: LimiterOptions): void {
  checkForeign('createLimiter', 'limiter', options);
  checkLimiterConfig('createLimiter', options, EXTRA_KEYS);
  checkRetryOptions(options);
  checkSharedOption(options);
}

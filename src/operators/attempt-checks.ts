import {
  checkBoolean,
  checkChoice,
  checkFunction,
  checkKeys,
  checkNumber,
  show,
} from '../model/check.ts';
import type { AttemptOptions } from './attempt-options.ts';

const PACE_KEYS = ['intervalMs', 'maxIntervalMs', 'jitter'];
const CIRCUIT_KEYS = ['consecutiveFailures', 'openMs', 'halfOpenProbes', 'onOpen'];
const STRATEGIES = ['cooling', 'gradient'] as const;
const ADAPTIVE_KEYS = {
  cooling: [
    'strategy',
    'initialLimit',
    'failureThreshold',
    'failureWindowMs',
    'coolingMs',
    'ceilingResetFactor',
  ],
  gradient: [
    'strategy',
    'minLimit',
    'initialLimit',
    'tolerance',
    'smoothing',
    'backoffRatio',
    'queueSize',
    'windowMs',
    'per',
  ],
} as const;

/**
 * Checks what the cores themselves do not see: the shape of their options, and options of cores
 * that are not on.
 * @throws RangeError or TypeError that names a wrong option
 */
export function checkAttemptOptions(options: AttemptOptions): void {
  const { pace, circuitBreaker, adaptive, isFailure, onLimit, refundRejected } = options;
  checkLimitOptions(options);
  if (onLimit !== undefined) checkChoice('onLimit', onLimit, ['wait', 'fail']);
  if (refundRejected !== undefined) checkBoolean('refundRejected', refundRejected);
  if (isFailure !== undefined) checkFunction('isFailure', isFailure);
  if (pace !== undefined) checkKeys('pace', pace, PACE_KEYS);
  if (circuitBreaker !== undefined && circuitBreaker !== true) {
    checkKeys('circuitBreaker', circuitBreaker, CIRCUIT_KEYS);
  }
  if (adaptive === undefined) return;
  if (typeof adaptive === 'string') checkChoice('adaptive', adaptive, STRATEGIES);
  else {
    checkKeys('adaptive', adaptive, [...ADAPTIVE_KEYS.cooling, ...ADAPTIVE_KEYS.gradient]);
    const strategy = checkChoice('adaptive.strategy', adaptive.strategy, STRATEGIES);
    checkKeys(`adaptive "${strategy}"`, adaptive, ADAPTIVE_KEYS[strategy]);
  }
}

/** @throws RangeError or TypeError that names a wrong option */
export function checkLimitOptions({
  limits,
  requestsPerMinute,
  tokensPerMinute,
}: Pick<AttemptOptions, 'limits' | 'requestsPerMinute' | 'tokensPerMinute'>): void {
  const isObject = typeof limits === 'object' && limits !== null && !Array.isArray(limits);
  if (limits !== undefined && !isObject) {
    throw new TypeError(`\`limits\` must be an object of named limits, got ${show(limits)}`);
  }
  if (requestsPerMinute !== undefined) checkNumber('requestsPerMinute', requestsPerMinute, 1);
  if (tokensPerMinute !== undefined) checkNumber('tokensPerMinute', tokensPerMinute, 1);
}

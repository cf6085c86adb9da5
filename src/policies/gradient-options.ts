import { checkBetween, checkInteger } from '../util/check.ts';
import { withoutUndefined } from '../util/without-undefined.ts';
import { checkOptions, integer, number, type Option, upTo, word } from './option.ts';

/** The initial limit (Netflix: 20). */
export const DEFAULT_GRADIENT_INITIAL_LIMIT = 20;
/** The share of the way to its new value that the limit moves at once (Netflix: 0.2). */
const DEFAULT_SMOOTHING = 0.2;
/** The multiple of its long average up to which latency does not lower the limit (Netflix: 1.5). */
const DEFAULT_LATENCY_TOLERANCE = 1.5;
/** The factor of the limit after a drop (Netflix, AIMDLimit: 0.9). */
const DEFAULT_BACKOFF_RATIO = 0.9;
/** How long samples are gathered for one adjustment (Netflix, WindowedLimit: 1 s). */
const DEFAULT_SAMPLE_WINDOW_MS = 1_000;

/** How the concurrency follows the latency (`adaptive: 'latency'`). */
export interface GradientOptions {
  /** The greatest limit, an integer >= 1. */
  readonly maxLimit: number;
  /** The lowest limit, an integer from 1 to `maxLimit`. Default 1. */
  readonly minLimit?: number;
  /** The initial limit, from `minLimit` to `maxLimit`. Default 20, or the nearest allowed value. */
  readonly initialLimit?: number;
  /** Growth of latency that does not count as queueing, a factor >= 1. Default 1.5. */
  readonly tolerance?: number;
  /**
   * The share of the way to its new value that the limit moves at once, from 0 to 1. Default 0.2.
   */
  readonly smoothing?: number;
  /** The factor of the limit after a drop, from 0 to 1. Default 0.9. */
  readonly backoffRatio?: number;
  /**
   * Requests that may queue in the server, a number >= 0. Default: the square root of the limit.
   */
  readonly queueSize?: number;
  /** How long samples are gathered for one adjustment, in milliseconds, >= 0. Default 1000. */
  readonly windowMs?: number;
  /**
   * The divisor of the latency. `token` makes answers of different lengths comparable, and
   * ignores samples without tokens. Default `request`.
   */
  readonly per?: 'request' | 'token';
}

/** The options that no other strategy has. */
export const GRADIENT_FIELDS = {
  minLimit: integer(1, 1, 'requests', 'latency: the lowest limit'),
  tolerance: number(
    1,
    DEFAULT_LATENCY_TOLERANCE,
    '× latency',
    'latency: growth of the latency that is tolerated',
  ),
  smoothing: upTo(
    1,
    number(
      0,
      DEFAULT_SMOOTHING,
      'part',
      'latency: share of the step to a new limit that is made at once',
    ),
  ),
  backoffRatio: upTo(
    1,
    number(
      0,
      DEFAULT_BACKOFF_RATIO,
      'part',
      'latency: share of the limit that is kept after a drop',
    ),
  ),
  queueSize: number(
    0,
    'root of the limit',
    'requests',
    'latency: requests that may queue in the server',
  ),
  windowMs: number(
    0,
    DEFAULT_SAMPLE_WINDOW_MS,
    'ms',
    'latency: window of the samples for one adjustment',
  ),
  per: word(
    ['request', 'token'],
    'request',
    'latency: whether latency is measured per request or per token',
  ),
} satisfies Partial<Record<keyof GradientOptions, Option>>;

/** Options with their defaults filled in; without `queueSize` it follows the limit. */
export interface GradientSettings extends Required<Omit<GradientOptions, 'queueSize'>> {
  readonly queueSize: number | undefined;
}

/** @throws RangeError or TypeError that names a wrong option */
export function gradientSettings(options: GradientOptions): GradientSettings {
  const maxLimit = checkInteger('maxLimit', options.maxLimit, 1);
  checkOptions(GRADIENT_FIELDS, options);
  const { minLimit = 1 } = options;
  checkBetween('minLimit', minLimit, 1, maxLimit);
  const nearest = Math.min(maxLimit, Math.max(minLimit, DEFAULT_GRADIENT_INITIAL_LIMIT));
  const { initialLimit = nearest } = options;
  checkInteger('initialLimit', initialLimit, minLimit);
  checkBetween('initialLimit', initialLimit, minLimit, maxLimit);
  return {
    tolerance: DEFAULT_LATENCY_TOLERANCE,
    smoothing: DEFAULT_SMOOTHING,
    backoffRatio: DEFAULT_BACKOFF_RATIO,
    queueSize: undefined,
    windowMs: DEFAULT_SAMPLE_WINDOW_MS,
    per: 'request',
    ...withoutUndefined(options),
    maxLimit,
    minLimit,
    initialLimit,
  };
}

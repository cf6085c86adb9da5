import { START_AT_ONCE } from '../core/adaptive-rate/trust.ts';
import {
  DEFAULT_CEILING_RESET_FACTOR,
  DEFAULT_COOLING_MS,
  DEFAULT_FAILURE_THRESHOLD,
  DEFAULT_FAILURE_WINDOW_MS,
} from '../core/cooling.ts';
import {
  DEFAULT_BACKOFF_RATIO,
  DEFAULT_GRADIENT_INITIAL_LIMIT,
  DEFAULT_LATENCY_TOLERANCE,
  DEFAULT_SAMPLE_WINDOW_MS,
  DEFAULT_SMOOTHING,
} from '../core/gradient-options.ts';
import type { AdaptiveLayer, Strategy } from './limiter-config.ts';
import { integer, number, type Option, upTo, word } from './option.ts';

export const STRATEGIES = ['rate', 'latency', 'failures'] as const satisfies readonly Strategy[];

const COMMON = {
  strategy: word(
    STRATEGIES,
    'required',
    'what adapts: the rate, or the concurrency to latency or to failures',
  ),
  initialLimit: integer(
    1,
    `${START_AT_ONCE} (rate), \`concurrency\` (failures), ${DEFAULT_GRADIENT_INITIAL_LIMIT} (latency)`,
    'requests',
    'the limit at first, up to `concurrency`',
  ),
};

const LATENCY = {
  minLimit: integer(1, 1, 'requests', 'latency: the lowest limit'),
  tolerance: number(
    1,
    DEFAULT_LATENCY_TOLERANCE,
    '× latency',
    'latency: growth that is no sign of queueing',
  ),
  smoothing: upTo(
    1,
    number(0, DEFAULT_SMOOTHING, 'part', 'latency: of the way to a new limit gone at once'),
  ),
  backoffRatio: upTo(
    1,
    number(0, DEFAULT_BACKOFF_RATIO, 'part', 'latency: of the limit left after a drop'),
  ),
  queueSize: number(0, 'root of the limit', 'requests', 'latency: that may queue in the server'),
  windowMs: number(0, DEFAULT_SAMPLE_WINDOW_MS, 'ms', 'latency: samples for one adjustment'),
  per: word(['request', 'token'], 'request', 'latency: what latency is divided by'),
};

const FAILURES = {
  failureThreshold: integer(
    1,
    DEFAULT_FAILURE_THRESHOLD,
    'requests',
    'failures: failures within the window that halve the limit',
  ),
  failureWindowMs: number(
    1,
    DEFAULT_FAILURE_WINDOW_MS,
    'ms',
    'failures: how long a failure counts',
  ),
  coolingMs: number(1, DEFAULT_COOLING_MS, 'ms', 'failures: between two steps back up'),
  ceilingResetFactor: number(
    0,
    DEFAULT_CEILING_RESET_FACTOR,
    '× `coolingMs`',
    'failures: time without failure that lifts the ceiling',
  ),
};

/** The options of all strategies. */
export const ADAPTIVE = { ...COMMON, ...LATENCY, ...FAILURES } satisfies Record<
  keyof AdaptiveLayer,
  Option
>;

/** The strategy that an option is for; undefined: for several. */
export function strategyOf(key: string): Strategy | undefined {
  if (Object.hasOwn(LATENCY, key)) return 'latency';
  return Object.hasOwn(FAILURES, key) ? 'failures' : undefined;
}

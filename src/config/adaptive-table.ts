import { DEFAULT_START_CONCURRENCY } from '../core/adaptive-rate/overload-limit.ts';
import {
  DEFAULT_START_PER_SECOND,
  LEAST_START_PER_SECOND,
} from '../core/adaptive-rate/rate-control.ts';
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

export const STRATEGIES = [
  'auto',
  'rate',
  'cooling',
  'gradient',
] as const satisfies readonly Strategy[];

const COMMON = {
  strategy: word(
    STRATEGIES,
    'required',
    'what adapts: the rate, or the concurrency to failures or to latency',
  ),
  initialLimit: integer(
    1,
    `\`concurrency\` (auto, cooling), ${DEFAULT_START_CONCURRENCY} (rate), ${DEFAULT_GRADIENT_INITIAL_LIMIT} (gradient)`,
    'requests',
    'the limit at first, up to `concurrency`',
  ),
};

const RATE = {
  startPerSecond: number(
    LEAST_START_PER_SECOND,
    DEFAULT_START_PER_SECOND,
    'requests/s',
    'rate: what is sent at once at first, and then a second; it doubles each second until something is known',
  ),
};

const COOLING = {
  failureThreshold: integer(
    1,
    DEFAULT_FAILURE_THRESHOLD,
    'requests',
    'cooling: failures within the window that halve the limit',
  ),
  failureWindowMs: number(1, DEFAULT_FAILURE_WINDOW_MS, 'ms', 'cooling: how long a failure counts'),
  coolingMs: number(1, DEFAULT_COOLING_MS, 'ms', 'cooling: between two steps back up'),
  ceilingResetFactor: number(
    0,
    DEFAULT_CEILING_RESET_FACTOR,
    '× `coolingMs`',
    'cooling: time without failure that lifts the ceiling',
  ),
};

const GRADIENT = {
  minLimit: integer(1, 1, 'requests', 'gradient: the lowest limit'),
  tolerance: number(
    1,
    DEFAULT_LATENCY_TOLERANCE,
    '× latency',
    'gradient: growth that is no sign of queueing',
  ),
  smoothing: upTo(
    1,
    number(0, DEFAULT_SMOOTHING, 'part', 'gradient: of the way to a new limit gone at once'),
  ),
  backoffRatio: upTo(
    1,
    number(0, DEFAULT_BACKOFF_RATIO, 'part', 'gradient: of the limit left after a drop'),
  ),
  queueSize: number(0, 'root of the limit', 'requests', 'gradient: that may queue in the server'),
  windowMs: number(0, DEFAULT_SAMPLE_WINDOW_MS, 'ms', 'gradient: samples for one adjustment'),
  per: word(['request', 'token'], 'request', 'gradient: what latency is divided by'),
};

/** The options of all strategies. */
export const ADAPTIVE = { ...COMMON, ...RATE, ...COOLING, ...GRADIENT } satisfies Record<
  keyof AdaptiveLayer,
  Option
>;

/** The strategy that an option is for; undefined: for several. */
export function strategyOf(key: string): Strategy | undefined {
  if (Object.hasOwn(RATE, key)) return 'rate';
  if (Object.hasOwn(COOLING, key)) return 'cooling';
  return Object.hasOwn(GRADIENT, key) ? 'gradient' : undefined;
}

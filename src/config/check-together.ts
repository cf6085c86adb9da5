import { checkBetween } from '../core/check-between.ts';
import { DEFAULT_INTERVAL_MS } from '../core/interval.ts';
import { DEFAULT_CONCURRENCY } from '../core/slots.ts';
import { show } from '../model/check.ts';
import { strategyOf } from './adaptive-table.ts';
import type { LimiterLayer } from './limiter-config.ts';

/** How an option is called in a message. */
export type Naming = (path: string) => string;

/** The options that are short for a limit, and its name. */
export const SHORTHANDS = [
  ['requestsPerMinute', 'requests'],
  ['tokensPerMinute', 'tokens'],
] as const satisfies readonly (readonly [keyof LimiterLayer, string])[];

/**
 * Checks what options say together. Each has been checked alone.
 * @param isWhole whether what is not given has its default; else it is not known yet, and what
 *   depends on it is not checked
 * @throws RangeError or TypeError that names the options and the value
 */
export function checkTogether(layer: LimiterLayer, isWhole: boolean, nameOf: Naming): void {
  checkShorthands(layer, nameOf);
  checkLimits(layer, isWhole, nameOf);
  checkPace(layer, isWhole, nameOf);
  checkAdaptive(layer, isWhole, nameOf);
}

function checkShorthands(layer: LimiterLayer, nameOf: Naming): void {
  for (const [short, name] of SHORTHANDS) {
    if (layer[short] === undefined || !Object.hasOwn(layer.limits ?? {}, name)) continue;
    throw new TypeError(
      `\`${nameOf(short)}\` and \`${nameOf(`limits.${name}`)}\` exclude each other: the first is short for the second`,
    );
  }
}

function checkLimits({ limits = {} }: LimiterLayer, isWhole: boolean, nameOf: Naming): void {
  for (const [
    name,
    { burst, algorithm = isWhole ? 'sliding-window' : undefined },
  ] of Object.entries(limits)) {
    if (burst === undefined || algorithm === undefined || algorithm === 'token-bucket') continue;
    const path = nameOf(`limits.${name}.burst`);
    throw new TypeError(
      `\`${path}\` belongs to a token-bucket, not a ${algorithm}; got ${show(burst)}`,
    );
  }
}

function checkPace({ pace = {} }: LimiterLayer, isWhole: boolean, nameOf: Naming): void {
  const { intervalMs = isWhole ? DEFAULT_INTERVAL_MS : undefined, maxIntervalMs } = pace;
  if (intervalMs === undefined || maxIntervalMs === undefined || maxIntervalMs >= intervalMs) {
    return;
  }
  const path = nameOf('pace.maxIntervalMs');
  throw new RangeError(
    `\`${path}\` must be a finite number >= ${intervalMs}, which is \`${nameOf('pace.intervalMs')}\`, got ${maxIntervalMs}`,
  );
}

function checkAdaptive(layer: LimiterLayer, isWhole: boolean, nameOf: Naming): void {
  const { adaptive, concurrency = isWhole ? DEFAULT_CONCURRENCY : undefined } = layer;
  if (typeof adaptive !== 'object') return;
  const { strategy, minLimit, initialLimit } = adaptive;
  for (const [key, value] of Object.entries(adaptive)) {
    const owner = strategyOf(key);
    if (value === undefined || strategy === undefined || owner === undefined) continue;
    if (owner === strategy) continue;
    throw new TypeError(
      `\`${nameOf(`adaptive.${key}`)}\` belongs to the strategy ${show(owner)}, not ${show(strategy)}; got ${show(value)}`,
    );
  }
  if (concurrency === undefined) return;
  const inBounds = (key: string, limit: number | undefined, least: number) => {
    const path = nameOf(`adaptive.${key}`);
    if (limit !== undefined) checkBetween(path, limit, least, concurrency);
  };
  inBounds('minLimit', minLimit, 1);
  inBounds('initialLimit', initialLimit, minLimit ?? 1);
}

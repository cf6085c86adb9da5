import { checkFunction, checkKeys, checkNumber } from '../util/check.ts';
import type { Random } from '../util/clock.ts';
import type { TokenCounts } from './limits/limit-state.ts';
import { logNormal } from './random.ts';

/** Log-normal latency with a part that grows with the output. */
export interface LatencyOptions {
  /** Mean of the part that does not depend on the output, in milliseconds. Default 0. */
  meanMs?: number;
  /** Standard deviation of its logarithm. Default 0.5. */
  sigma?: number;
  /** Milliseconds for each output token. Default 0. */
  perOutputTokenMs?: number;
}

/** Milliseconds for one request. */
export type LatencyFunction = (random: Random, tokens: TokenCounts) => number;

/** A constant in milliseconds, log-normal, or any function. */
export type Latency = number | LatencyOptions | LatencyFunction;

/** @throws RangeError or TypeError that names the option, its bound and the value */
export function makeLatency(name: string, latency: Latency): LatencyFunction {
  if (typeof latency === 'number') {
    const constantMs = checkNumber(name, latency, 0);
    return () => constantMs;
  }
  if (typeof latency !== 'object') {
    checkFunction(name, latency);
    return (random, tokens) => checkNumber(`${name}()`, latency(random, tokens), 0);
  }
  checkKeys(name, latency, ['meanMs', 'sigma', 'perOutputTokenMs']);
  const meanMs = checkNumber(`${name}.meanMs`, latency.meanMs ?? 0, 0);
  const sigma = checkNumber(`${name}.sigma`, latency.sigma ?? 0.5, 0);
  const tokenMs = checkNumber(`${name}.perOutputTokenMs`, latency.perOutputTokenMs ?? 0, 0);
  const base = logNormal({ meanMs, sigma });
  return (random, { outputTokens }) => base(random) + tokenMs * outputTokens;
}

import { checkFunction, checkInteger, checkKeys, checkNumber } from '../util/check.ts';
import type { Random } from '../util/clock.ts';
import type { TokenCounts } from './limits/limit-state.ts';

/** Rounds that are discarded, so that similar seeds do not start with similar numbers. */
const WARM_UP = 15;

/**
 * Numbers in [0, 1) that depend on the seed alone: sfc32 by Chris Doty-Humphrey, from PractRand
 * (public domain), 32 bits a number, with a counter in its state that rules out short cycles.
 *
 * @param seed an integer >= 0. Its low 53 bits count.
 */
export function seededRandom(seed: number): Random {
  checkInteger('seed', seed, 0);
  let a = 0;
  let b = seed | 0;
  let c = Math.floor(seed / 2 ** 32) | 0;
  let counter = 1;
  const next = () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let round = 0; round < WARM_UP; round++) next();
  return () => next() / 2 ** 32;
}

/** Draws one value from the given random numbers. */
export type Distribution = (random: Random) => number;

/** Options of `logNormal`. */
export interface LogNormalOptions {
  /** The mean of the values themselves, in milliseconds (or any unit). */
  meanMs: number;
  /** Standard deviation of the logarithm. 0: always the mean. Default 0.5. */
  sigma?: number;
}

/**
 * Log-normal values: latencies of model calls, with their long tail to the right.
 * Two uniform values give a normal one after Box and Muller (1958), shifted so that the mean of
 * the results is `meanMs`.
 */
export function logNormal(options: LogNormalOptions): Distribution {
  checkKeys('logNormal', options, ['meanMs', 'sigma']);
  const meanMs = checkNumber('meanMs', options.meanMs, 0);
  const sigma = checkNumber('sigma', options.sigma ?? 0.5, 0);
  if (meanMs === 0 || sigma === 0) return () => meanMs;
  const mu = Math.log(meanMs) - (sigma * sigma) / 2;
  return (random) => {
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    return Math.exp(mu + sigma * radius * Math.cos(2 * Math.PI * random()));
  };
}

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

import { checkChoice, checkInteger, checkKeys, checkNumber } from '../../util/check.ts';

/** What a limit counts. Until the answer is complete, output tokens are the requested ones. */
export type LimitUnit = 'requests' | 'tokens' | 'input-tokens' | 'output-tokens';

/** How a limit counts over time. */
export type LimitAlgorithm = 'token-bucket' | 'fixed-window' | 'sliding-window';

/** A limit that answers report. */
export interface AdvertisedLimit {
  /** An integer >= 1. */
  limit: number;
  /** Milliseconds, > 0. */
  windowMs: number;
  /** Default: the algorithm of the real limit. */
  algorithm?: LimitAlgorithm;
}

/** One rate limit of a simulated provider. */
export interface LimitOptions {
  /** Must differ from the names of the other limits. Default: the unit. */
  name?: string;
  unit: LimitUnit;
  algorithm: LimitAlgorithm;
  /** The amount allowed per `windowMs`; an integer >= 1. */
  limit: number;
  /** Milliseconds, > 0. */
  windowMs: number;
  /** Size of a token bucket, which starts full; an integer >= 1. Default: `limit`. */
  burst?: number;
  /**
   * When output tokens are charged. `upfront` (default): the requested tokens, with no correction.
   * `settle`: the requested tokens, corrected when the answer is complete.
   * `actual`: the used tokens, when the answer is complete; this may leave a debt.
   */
  charge?: 'upfront' | 'settle' | 'actual';
  /**
   * The limit that answers report. Default: the limit itself. `false`: none. An object: another
   * limit, which counts but never rejects, such as one per minute if the real one is per second.
   */
  advertised?: false | AdvertisedLimit;
}

const UNITS: readonly LimitUnit[] = ['requests', 'tokens', 'input-tokens', 'output-tokens'];
const ALGORITHMS: readonly LimitAlgorithm[] = ['token-bucket', 'fixed-window', 'sliding-window'];
const KEYS = [
  'name',
  'unit',
  'algorithm',
  'limit',
  'windowMs',
  'burst',
  'charge',
  'advertised',
] as const;

function checkSize(name: string, size: { limit: number; windowMs: number }): void {
  checkInteger(`${name}.limit`, size.limit, 1);
  checkNumber(`${name}.windowMs`, size.windowMs, Number.MIN_VALUE);
}

/** @throws RangeError or TypeError that names the option, its bound and the value */
export function checkLimits(limits: readonly LimitOptions[]): void {
  if (!Array.isArray(limits)) throw new TypeError('`limits` must be an array');
  const names = new Set<string>();
  limits.forEach((options, index) => {
    const name = `limits[${index}]`;
    checkLimit(name, options);
    const own = options.name ?? options.unit;
    if (names.has(own))
      throw new TypeError(`\`${name}.name\` must differ from others, got "${own}"`);
    names.add(own);
  });
}

function checkLimit(name: string, options: LimitOptions): void {
  checkKeys(name, options, KEYS);
  if (options.name !== undefined && typeof options.name !== 'string') {
    throw new TypeError(`\`${name}.name\` must be a string`);
  }
  checkChoice(`${name}.unit`, options.unit, UNITS);
  checkChoice(`${name}.algorithm`, options.algorithm, ALGORITHMS);
  checkSize(name, options);
  if (options.burst !== undefined) {
    checkInteger(`${name}.burst`, options.burst, 1);
    if (options.algorithm !== 'token-bucket') {
      throw new TypeError(
        `\`${name}.burst\` belongs to a token-bucket, not a ${options.algorithm}`,
      );
    }
  }
  if (options.charge !== undefined) {
    checkChoice(`${name}.charge`, options.charge, ['upfront', 'settle', 'actual']);
  }
  if (options.advertised !== undefined && options.advertised !== false) {
    checkKeys(`${name}.advertised`, options.advertised, ['limit', 'windowMs', 'algorithm']);
    checkSize(`${name}.advertised`, options.advertised);
    if (options.advertised.algorithm !== undefined) {
      checkChoice(`${name}.advertised.algorithm`, options.advertised.algorithm, ALGORITHMS);
    }
  }
}

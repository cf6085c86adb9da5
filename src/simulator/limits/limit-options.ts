import { checkChoice, checkInteger, checkKeys, checkNumber } from '../../util/check.ts';

/** What a limit counts. Output tokens are those asked for until the answer is there. */
export type LimitUnit = 'requests' | 'tokens' | 'input-tokens' | 'output-tokens';

/** How a limit counts over time. */
export type LimitAlgorithm = 'token-bucket' | 'fixed-window' | 'sliding-window';

/** A limit that answers tell of. */
export interface AdvertisedLimit {
  /** An integer >= 1. */
  limit: number;
  /** Milliseconds, > 0. */
  windowMs: number;
  /** Default: that of the real limit. */
  algorithm?: LimitAlgorithm;
}

/** One rate limit of a simulated provider. */
export interface LimitOptions {
  /** Must differ from those of the other limits. Default: the unit. */
  name?: string;
  unit: LimitUnit;
  algorithm: LimitAlgorithm;
  /** How much `windowMs` allow; an integer >= 1. */
  limit: number;
  /** Milliseconds, > 0. */
  windowMs: number;
  /** Size of a token bucket, which starts full; an integer >= 1. Default: `limit`. */
  burst?: number;
  /**
   * When output tokens are charged. `upfront` (default): all that were asked for, for good.
   * `settle`: all that were asked for, corrected when the answer is there.
   * `actual`: when the answer is there, which may leave a debt.
   */
  charge?: 'upfront' | 'settle' | 'actual';
  /**
   * What answers tell. Default: the limit itself. `false`: nothing. An object: another limit,
   * which counts but never rejects, such as a minute's in front of one-second slices.
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

/** The goals of a fleet. */

/** After this silence a worker loses its slots and bytes, in milliseconds. */
export const TTL_MS = 1_000;

export interface Goal {
  /** A description in one line. */
  readonly about: string;
  readonly unit: '%' | 'ms' | '' | 'requests' | 'µs';
  /** Undefined: the figure is measured, and has no goal. */
  readonly least?: number;
  readonly most?: number;
}

export const GOALS = {
  overshoot: { about: 'beyond the limit, in the worst window', unit: '%', most: 1 },
  goodput: { about: 'of the limit is used, with enough demand', unit: '%', least: 98 },
  fairness: { about: "Jain's index, with equal demand", unit: '', least: 0.95 },
  reuse: { about: 'until the share of idle workers is used', unit: 'ms', most: 200 },
  churnOvershoot: {
    about: 'beyond the limit, while workers start, stop and are killed',
    unit: '%',
    most: 1,
  },
  churnGoodput: { about: 'of the limit is used meanwhile', unit: '%' },
  calls: { about: 'calls of the store for a request, at 1,000/s a worker', unit: '', most: 0.05 },
  rate: { about: 'requests a second and worker meanwhile', unit: '' },
  callMicros: { about: 'of a core for a call of the store', unit: 'µs' },
  busy: { about: 'of a core that Redis took meanwhile', unit: '%' },
  busyWaitP50: { about: 'added wait meanwhile, median', unit: 'ms' },
  busyWaitP99: { about: 'added wait meanwhile, 99th percentile', unit: 'ms' },
  waitP50: { about: 'added wait where nothing binds, median', unit: 'ms', most: 2 },
  waitP99: { about: 'added wait where nothing binds, 99th percentile', unit: 'ms', most: 10 },
  killedBack: {
    about: 'until all slots of a killed worker are in use',
    unit: 'ms',
    most: 2 * TTL_MS,
  },
  doubled: { about: 'requests in flight above the slots', unit: 'requests', most: 0 },
  storeBack: { about: 'until every worker sends, after Redis is back', unit: 'ms', most: 1_000 },
  storeLost: { about: 'requests that failed while Redis was away', unit: 'requests', most: 0 },
  storeOvershoot: { about: 'beyond the limit, while Redis starts anew', unit: '%', most: 1 },
} as const satisfies Record<string, Goal>;

export type GoalName = keyof typeof GOALS;

/** The measured value; NaN: there is none. */
export type Figures = Partial<Record<GoalName, number>>;

/** Undefined: the figure has no goal. */
export function isReached(name: GoalName, value: number): boolean | undefined {
  const { least, most }: Goal = GOALS[name];
  if (least === undefined && most === undefined) return undefined;
  return (
    value >= (least ?? Number.NEGATIVE_INFINITY) && value <= (most ?? Number.POSITIVE_INFINITY)
  );
}

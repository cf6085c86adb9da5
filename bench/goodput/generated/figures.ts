/** Figures of many runs of one client: over all runs, and by the traits of their providers. */
import type { Score } from './score.ts';
import type { Scenario } from './space.ts';

export interface GeneratedRun extends Score {
  readonly scenario: Scenario;
}

/** One row of the tables. */
export interface Figures {
  readonly runs: number;
  readonly goodput: { readonly median: number; readonly p25: number; readonly p5: number };
  /** 429s and 503s for each 1,000 accepted requests. */
  readonly rejected: { readonly median: number; readonly p95: number; readonly worst: number };
  /** The share of runs with a flooded minute. */
  readonly floods: number;
}

/** The traits by which runs are grouped. */
export const TRAITS = {
  kind: ({ kind }) => kind,
  headers: ({ headers }) => headers,
  load: ({ load }) => load,
  change: ({ change }) => change,
  outage: ({ outage }) => outage,
  'counted rejections': ({ countsRejected }) => (countsRejected ? 'yes' : 'no'),
} as const satisfies Record<string, (scenario: Scenario) => string>;

export type Trait = keyof typeof TRAITS;

function isTrait(name: string): name is Trait {
  return Object.hasOwn(TRAITS, name);
}

export const traits: readonly Trait[] = Object.keys(TRAITS).filter(isTrait);

/** The shortest run that the tables count, in ms: a shorter run is mostly the start. */
const LONG_RUN_MS = 120_000;

/** Runs of two minutes or more, which the tables count. */
export function isLong({ horizonMs }: Scenario): boolean {
  return horizonMs >= LONG_RUN_MS;
}

/** Runs without change or outage. */
export function isPlain({ change, outage }: Scenario): boolean {
  return change === 'none' && outage === 'none';
}

export function figuresOf(runs: readonly GeneratedRun[]): Figures {
  const goodput = ascending(runs.map((run) => run.goodput));
  const rejected = ascending(runs.map((run) => run.rejectedPerMille));
  return {
    runs: runs.length,
    goodput: {
      median: quantile(goodput, 0.5),
      p25: quantile(goodput, 0.25),
      p5: quantile(goodput, 0.05),
    },
    rejected: {
      median: quantile(rejected, 0.5),
      p95: quantile(rejected, 0.95),
      worst: quantile(rejected, 1),
    },
    floods: runs.filter(({ floodedMinutes }) => floodedMinutes > 0).length,
  };
}

/** Groups runs by the value of a trait, in alphabetical order. */
export function figuresBy(
  trait: Trait,
  runs: readonly GeneratedRun[],
): Readonly<Record<string, Figures>> {
  const groups = new Map<string, GeneratedRun[]>();
  for (const run of runs) {
    const value = TRAITS[trait](run.scenario);
    groups.set(value, [...(groups.get(value) ?? []), run]);
  }
  const rows = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(rows.map(([value, some]) => [value, figuresOf(some)]));
}

function ascending(values: readonly number[]): readonly number[] {
  return values.toSorted((a, b) => a - b);
}

/** The quantile of ascending values, interpolated; 0 if there are none. */
function quantile(values: readonly number[], part: number): number {
  const place = part * (values.length - 1);
  const low = values[Math.floor(place)] ?? 0;
  const high = values[Math.ceil(place)] ?? low;
  return low + (high - low) * (place - Math.floor(place));
}

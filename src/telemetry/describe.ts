/** How metrics are described. */

export type Instrument = 'counter' | 'updowncounter' | 'gauge' | 'histogram';

/** The definition of a metric. */
export interface Metric {
  readonly name: string;
  readonly instrument: Instrument;
  /** The unit in UCUM notation. */
  readonly unit: string;
  /** Its attributes beside `headgate.name`, which all metrics have. */
  readonly attributes: readonly string[];
  readonly meaning: string;
  /** Boundaries of a histogram's buckets, in its unit. */
  readonly buckets?: readonly number[];
}

type Attributes = readonly string[];

export function counter(name: string, unit: string, attributes: Attributes, meaning: string) {
  return { name, instrument: 'counter', unit, attributes, meaning } as const;
}

export function upDown(name: string, unit: string, attributes: Attributes, meaning: string) {
  return { name, instrument: 'updowncounter', unit, attributes, meaning } as const;
}

export function gauge(name: string, unit: string, attributes: Attributes, meaning: string) {
  return { name, instrument: 'gauge', unit, attributes, meaning } as const;
}

export function histogram(
  name: string,
  unit: string,
  attributes: Attributes,
  meaning: string,
  buckets: readonly number[],
) {
  return { name, instrument: 'histogram', unit, attributes, meaning, buckets } as const;
}

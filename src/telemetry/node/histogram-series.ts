import type { Attributes, HrTime } from '@opentelemetry/api';
import type { DataPoint, Histogram } from '@opentelemetry/sdk-metrics';
import type { Recorder } from '../recorder.ts';

/**
 * One series of a histogram with explicit boundaries, in plain numbers: to record a value takes a
 * few additions, where the instrument of an SDK sorts and serialises the attributes first. It counts
 * as the SDK's own aggregation does.
 */
export class HistogramSeries implements Recorder {
  readonly #attributes: Attributes;
  /** Upper bounds of the buckets, each included in its bucket; there is one bucket more. */
  readonly #boundaries: readonly number[];
  /** Values by bucket. No 32-bit integers: a long run has more. */
  readonly #counts: Float64Array;
  #count = 0;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;
  /** The wall clock at the first value, in ms. */
  #startedAt = 0;

  constructor(attributes: Attributes, boundaries: readonly number[]) {
    this.#attributes = attributes;
    this.#boundaries = boundaries;
    this.#counts = new Float64Array(boundaries.length + 1);
  }

  /** Ignores what is no number or below 0, as the SDK does. */
  record(value: number): void {
    if (!(value >= 0)) return;
    if (this.#count === 0) this.#startedAt = Date.now();
    this.#count += 1;
    this.#sum += value;
    if (value < this.#min) this.#min = value;
    if (value > this.#max) this.#max = value;
    const boundaries = this.#boundaries;
    let bucket = 0;
    while (bucket < boundaries.length && (boundaries[bucket] as number) < value) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
  }

  /** All values until now, as the SDK tells them; undefined: there is none. */
  point(endTime: HrTime): DataPoint<Histogram> | undefined {
    if (this.#count === 0) return undefined;
    return {
      attributes: this.#attributes,
      startTime: hrTimeOf(this.#startedAt),
      endTime,
      value: {
        min: this.#min,
        max: this.#max,
        sum: this.#sum,
        count: this.#count,
        buckets: { boundaries: [...this.#boundaries], counts: Array.from(this.#counts) },
      },
    };
  }
}

/** Seconds and nanoseconds of a wall-clock time in ms. */
export function hrTimeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)];
}

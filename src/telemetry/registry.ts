import type { BatchObservableResult, Meter, Tracer } from '@opentelemetry/api';
import { type Instruments, instrumentsOf } from './instruments.ts';
import { Labels } from './labels.ts';
import { Series } from './series.ts';
import { Tracing } from './tracing.ts';

/** How many names have their own series; later ones count as `_OTHER`. */
const MOST_NAMES = 100;

/**
 * The series of one meter, by name. Two callbacks that observe the same attributes would overwrite
 * each other, so there is one, and all instances of one name share a series.
 */
class Registry {
  readonly #instruments: Instruments;
  readonly #names = new Labels(MOST_NAMES);
  readonly #series = new Map<string, Series>();

  constructor(meter: Meter) {
    this.#instruments = instrumentsOf(meter);
    const { observed } = this.#instruments;
    meter.addBatchObservableCallback((result) => this.#observe(result), Object.values(observed));
  }

  seriesOf(name: string): Series {
    const label = this.#names.of(name);
    const known = this.#series.get(label);
    if (known !== undefined) return known;
    const series = new Series(label, this.#instruments);
    this.#series.set(label, series);
    return series;
  }

  #observe(result: BatchObservableResult): void {
    const { observed } = this.#instruments;
    for (const series of this.#series.values()) {
      series.observe((key, value, attributes) => {
        const gauge = observed[key];
        if (gauge !== undefined) result.observe(gauge, value, attributes);
      });
    }
  }
}

const registries = new WeakMap<Meter, Registry>();

/** The series of a name, one for all users of a meter. */
export function seriesOf(meter: Meter, name: string): Series {
  let registry = registries.get(meter);
  if (registry === undefined) {
    registry = new Registry(meter);
    registries.set(meter, registry);
  }
  return registry.seriesOf(name);
}

/** Names whose tracing is shared. */
const MOST_TRACED = 100;

const tracings = new WeakMap<Tracer, Map<string, Tracing>>();

/**
 * What makes the spans of a name; the same for all who ask with one tracer: operators of one stream tell
 * it of the same requests.
 */
export function tracingOf(tracer: Tracer, name: string): Tracing {
  let named = tracings.get(tracer);
  if (named === undefined) {
    named = new Map();
    tracings.set(tracer, named);
  }
  const known = named.get(name);
  if (known !== undefined) return known;
  const tracing = new Tracing(tracer, name);
  if (named.size < MOST_TRACED) named.set(name, tracing);
  return tracing;
}

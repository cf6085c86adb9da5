import type { BatchObservableResult, Meter, Tracer } from '@opentelemetry/api';
import type { Instrumentation } from '../model/instrumentation.ts';
import { joinInstrumentations, uniteInstrumentations } from '../model/join-instrumentations.ts';
import { checkChoice, checkKeys, checkMethods, checkObject, wrongType } from '../util/check.ts';
import { getOrMake } from '../util/collections.ts';
import { print } from '../util/print.ts';
import { warn } from '../util/warn.ts';
import { Labels } from './attributes.ts';
import { areContextsCarried, ContextPropagator } from './context-propagator.ts';
import { type Instruments, instrumentsOf } from './instruments.ts';
import { globalMeter, globalTracer } from './meter.ts';
import { Series } from './series.ts';
import { Tracing } from './tracing.ts';

/** How many names have their own series. Later names share `_OTHER`. */
const MOST_NAMES = 100;

/**
 * The series of one meter, by name. All instances of one name share a series, and one callback
 * reports all series: two callbacks that observe the same attributes would overwrite each other.
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
    return getOrMake(this.#series, label, () => new Series(label, this.#instruments));
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
function seriesOf(meter: Meter, name: string): Series {
  return getOrMake(registries, meter, () => new Registry(meter)).seriesOf(name);
}

/** The most names of one tracer whose `Tracing` is kept and shared. */
const MOST_TRACED = 100;

const tracings = new WeakMap<Tracer, Map<string, Tracing>>();

/**
 * The `Tracing` of a name. All users of one tracer and name share it, because the operators of one
 * stream report the same requests to it.
 */
function tracingOf(tracer: Tracer, name: string): Tracing {
  const named = getOrMake(tracings, tracer, () => new Map<string, Tracing>());
  const make = () => new Tracing(tracer, name);
  return named.size < MOST_TRACED ? getOrMake(named, name, make) : (named.get(name) ?? make());
}

/** Restores contexts if metrics are on and spans are off. */
const CARRIER = new ContextPropagator();

/** The destination of metrics and spans. */
export interface TelemetryOptions {
  /** Default: a meter of the provider that is registered when the limiter or stream is made. */
  readonly meter?: Meter;
  /** Default: a tracer of the provider that is registered then. */
  readonly tracer?: Tracer;
  /** `sampled` (default): spans for the requests that the sampler, or their caller, has chosen. */
  readonly spans?: 'sampled' | 'off';
}

/** Names an instrumented limiter or stream, and selects its telemetry. */
export interface InstrumentationOptions {
  /**
   * The name in its metrics and spans. Use few names, and never an API key or an id. Default
   * `default`.
   */
  readonly name?: string;
  /**
   * Metrics and spans through `@opentelemetry/api`: on if an SDK is registered; `false` turns them
   * off.
   */
  readonly telemetry?: TelemetryOptions | false;
}

/** @throws TypeError that names a wrong option */
function checkInstrumentationOptions({ name, telemetry }: InstrumentationOptions): void {
  if (name !== undefined && (typeof name !== 'string' || name === '')) {
    wrongType('name', 'a string of at least 1 character', name);
  }
  if (telemetry === undefined || telemetry === false) return;
  if (typeof telemetry !== 'object') {
    wrongType('telemetry', 'an object of options, or false', telemetry);
  }
  checkKeys('telemetry', telemetry, ['meter', 'tracer', 'spans']);
  const { meter, tracer, spans } = telemetry;
  if (meter !== undefined) checkMethods('telemetry.meter', meter, ['createHistogram']);
  if (tracer !== undefined) checkMethods('telemetry.tracer', tracer, ['startSpan']);
  if (spans !== undefined) checkChoice('telemetry.spans', spans, ['sampled', 'off']);
}

/**
 * Returns the instrumentation that makes metrics and spans. Operators and limiters create it by
 * themselves; use this for your own code that reports requests as they do.
 *
 * @returns undefined if no SDK is registered
 * @throws TypeError that names a wrong option
 */
export function telemetryInstrumentation(
  watched: InstrumentationOptions = {},
): Instrumentation | undefined {
  checkObject('telemetryInstrumentation', watched);
  checkInstrumentationOptions(watched);
  return instrumentationOrNone(watched.name, watched.telemetry);
}

/**
 * Checks the options. Returns a function that adds metrics and spans of the SDK that is registered
 * when it is called.
 *
 * @param own its instrumentation receives all reports, as metrics and spans do; undefined: nothing
 *   else observes
 * @throws TypeError that names a wrong option
 */
export function telemetryAdder<O extends { readonly instrumentation: Instrumentation | undefined }>(
  watched: InstrumentationOptions,
  own: O,
): () => O {
  checkInstrumentationOptions(watched);
  const { name, telemetry } = watched;
  return () => {
    const added = instrumentationOrNone(name, telemetry);
    return { ...own, instrumentation: joinInstrumentations(added, own.instrumentation) };
  };
}

/** The instrumentation; undefined: it is off, or making it failed, which must not stop requests. */
function instrumentationOrNone(
  name = 'default',
  telemetry: InstrumentationOptions['telemetry'] = {},
): Instrumentation | undefined {
  if (telemetry === false) return undefined;
  try {
    return instrumentationOf(name, telemetry);
  } catch (error) {
    warn(`headgate goes on without telemetry: ${print(error)}`);
    return undefined;
  }
}

function instrumentationOf(name: string, telemetry: TelemetryOptions): Instrumentation | undefined {
  const { spans = 'sampled' } = telemetry;
  const meter = telemetry.meter ?? globalMeter();
  const tracer = telemetry.tracer ?? globalTracer();
  const isTraced = tracer !== undefined && spans === 'sampled';
  const isCarried = (meter !== undefined || tracer !== undefined) && areContextsCarried();
  const traced = isTraced ? tracingOf(tracer, name) : isCarried ? CARRIER : undefined;
  const counted = meter && seriesOf(meter, name);
  // Returns the same object for the same two parts, so that all operators of a stream share one
  // instrumentation, which sees each request once.
  if (traced === undefined || counted === undefined) return joinInstrumentations(traced, counted);
  return uniteInstrumentations(traced, counted);
}

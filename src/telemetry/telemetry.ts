import { type BatchObservableResult, type Meter, type Tracer, trace } from '@opentelemetry/api';
import type { Instrumentation } from '../model/instrumentation.ts';
import { joinInstrumentations, uniteInstrumentations } from '../model/join-instrumentations.ts';
import { checkChoice, checkKeys, checkMethods, show } from '../util/check.ts';
import { print } from '../util/print.ts';
import { Labels } from './attributes.ts';
import { areContextsCarried, ContextPropagator } from './context-propagator.ts';
import { type Instruments, instrumentsOf } from './instruments.ts';
import { globalMeter, SCOPE } from './meter.ts';
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
function seriesOf(meter: Meter, name: string): Series {
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
 * The span maker of a name. All users of one tracer and name share it, because the operators of one
 * stream report the same requests to it.
 */
function tracingOf(tracer: Tracer, name: string): Tracing {
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

/** Carries contexts where nothing is traced. */
const CARRIER = new ContextPropagator();

/** Where metrics and spans go. */
export interface TelemetryOptions {
  /** Default: of the meter provider that is registered when the limiter or stream is made. */
  readonly meter?: Meter;
  /** Default: of the tracer provider that is registered then. */
  readonly tracer?: Tracer;
  /** `sampled` (default): spans of the requests that the sampler, or their caller, has chosen. */
  readonly spans?: 'sampled' | 'off';
}

/** Names what is observed, and selects its telemetry. */
export interface InstrumentationOptions {
  /**
   * Distinguishes its metrics and spans. Use few names, and never a key or an id. Default
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
    throw new TypeError(`\`name\` must be a string of at least 1 character, got ${show(name)}`);
  }
  if (telemetry === undefined || telemetry === false) return;
  checkKeys('telemetry', telemetry, ['meter', 'tracer', 'spans']);
  const { meter, tracer, spans } = telemetry;
  if (meter !== undefined) checkMethods('telemetry.meter', meter, ['createHistogram']);
  if (tracer !== undefined) checkMethods('telemetry.tracer', tracer, ['startSpan']);
  if (spans !== undefined) checkChoice('telemetry.spans', spans, ['sampled', 'off']);
}

/**
 * The instrumentation that makes metrics and spans. Every operator and limiter has one without being
 * asked: this one is for code of yours that reports requests as they do.
 *
 * @returns undefined where no SDK is registered: then nothing is watched, at no cost
 * @throws TypeError that names a wrong option
 */
export function telemetryInstrumentation(
  watched: InstrumentationOptions = {},
): Instrumentation | undefined {
  checkInstrumentationOptions(watched);
  return instrumentationOrNone(watched.name, watched.telemetry);
}

/**
 * Checks the options. Returns a function that makes the instrumentation for the SDK that is
 * registered when it is called; undefined: nothing observes.
 *
 * @param own receives all reports, as metrics and spans do
 * @throws TypeError that names a wrong option
 */
export function instrumentationResolver(
  watched: InstrumentationOptions,
  own: Instrumentation | undefined,
): () => Instrumentation | undefined {
  checkInstrumentationOptions(watched);
  const { name, telemetry } = watched;
  return () => joinInstrumentations(instrumentationOrNone(name, telemetry), own);
}

/** The instrumentation; undefined: it is off, or could not be made, which must stop nothing. */
function instrumentationOrNone(
  name = 'default',
  telemetry: InstrumentationOptions['telemetry'] = {},
): Instrumentation | undefined {
  if (telemetry === false) return undefined;
  try {
    return instrumentationOf(name, telemetry);
  } catch (error) {
    process.emitWarning(`headgate goes on without telemetry: ${print(error)}`);
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

/** The API's provider is a proxy of the registered one, and shows whether there is one. */
function globalTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  if ('getDelegateTracer' in provider && typeof provider.getDelegateTracer === 'function') {
    const tracer: Tracer | undefined = provider.getDelegateTracer(SCOPE.name, SCOPE.version);
    return tracer;
  }
  return provider.getTracer(SCOPE.name, SCOPE.version);
}

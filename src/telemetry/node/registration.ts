import { context, metrics, propagation, type TracerProvider, trace } from '@opentelemetry/api';
import { areContextsCarried } from '../context-propagator.ts';

/** The names of signals. */
interface Wanted {
  readonly traces: boolean;
  readonly metrics: boolean;
}

/**
 * What an SDK has registered with the OpenTelemetry API. Make it before the SDK starts: the API
 * keeps what was registered first, and refuses what comes later without an error.
 */
export class Registration {
  readonly #wanted: Wanted;
  #meterProvider = metrics.getMeterProvider();
  #tracerProvider = tracerProvider();
  readonly #hasContexts = !areContextsCarried();
  readonly #hasPropagation = propagation.fields().length === 0;
  #hasTraces = false;
  #hasMetrics = false;

  /** @param wanted the signals that the SDK registers if it can */
  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  /** Whether the SDK has the metrics. */
  get hasMetrics(): boolean {
    return this.#hasMetrics;
  }

  /**
   * Call it when the SDK has started.
   * @returns the names of the wanted signals that another SDK keeps, such as `traces and metrics`
   */
  began(): string {
    const [meters, tracers] = [metrics.getMeterProvider(), tracerProvider()];
    this.#hasMetrics = meters !== this.#meterProvider;
    this.#hasTraces = tracers !== this.#tracerProvider;
    this.#meterProvider = meters;
    this.#tracerProvider = tracers;
    const isKept = {
      traces: this.#wanted.traces && !this.#hasTraces,
      metrics: this.#wanted.metrics && !this.#hasMetrics,
    };
    return (['traces', 'metrics'] as const).filter((signal) => isKept[signal]).join(' and ');
  }

  /**
   * Unregisters what the SDK has registered, so that another SDK can be started. Does nothing if
   * the program has registered another one meanwhile.
   */
  end(): void {
    if (metrics.getMeterProvider() !== this.#meterProvider) return;
    if (tracerProvider() !== this.#tracerProvider) return;
    if (this.#hasMetrics) metrics.disable();
    if (this.#hasTraces) trace.disable();
    if (this.#hasContexts) context.disable();
    if (this.#hasPropagation) propagation.disable();
  }
}

/** The provider behind the API's proxy. */
function tracerProvider(): TracerProvider {
  const provider: TracerProvider & { getDelegate?: () => TracerProvider } =
    trace.getTracerProvider();
  return provider.getDelegate?.() ?? provider;
}

import { context, metrics, propagation, trace } from '@opentelemetry/api';
import { areContextsCarried } from '../context-propagator.ts';
import { globalMeter, globalTracer } from '../meter.ts';

/**
 * The parts of the OpenTelemetry API that an SDK can register. Make it before the SDK starts: the
 * API keeps what was registered first, and refuses what comes later without an error.
 */
export class Registration {
  readonly hasMetrics: boolean = globalMeter() === undefined;
  readonly #hasTraces = globalTracer() === undefined;
  readonly #hasContexts = !areContextsCarried();
  readonly #hasPropagation = propagation.fields().length === 0;
  #provider = metrics.getMeterProvider();

  /** The names of the wanted signals that another SDK has registered. */
  taken(wantsTraces: boolean, wantsMetrics: boolean): string {
    const traces = wantsTraces && !this.#hasTraces ? ['traces'] : [];
    const metrics = wantsMetrics && !this.hasMetrics ? ['metrics'] : [];
    return [...traces, ...metrics].join(' and ');
  }

  /** Call it when the SDK has started. */
  began(): void {
    this.#provider = metrics.getMeterProvider();
  }

  /**
   * Unregisters what the SDK has registered, so that another SDK can be started. Does nothing if
   * the program has registered another one meanwhile.
   */
  end(): void {
    if (metrics.getMeterProvider() !== this.#provider) return;
    if (this.hasMetrics) metrics.disable();
    if (this.#hasTraces) trace.disable();
    if (this.#hasContexts) context.disable();
    if (this.#hasPropagation) propagation.disable();
  }
}

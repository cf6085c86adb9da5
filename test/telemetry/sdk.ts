import { context, metrics, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  type DataPoint,
  type Histogram,
  MeterProvider,
  MetricReader,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

export class PullReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

type Labels = Readonly<Record<string, string | number>>;
type Point = DataPoint<number | Histogram>;

function hasLabels({ attributes }: Point, labels: Labels): boolean {
  const keys = Object.keys(attributes);
  const wanted = Object.entries(labels);
  return keys.length === wanted.length && wanted.every(([key, value]) => attributes[key] === value);
}

/** What a collection of metrics has told. */
export class Collected {
  readonly #resource: ResourceMetrics;

  constructor(resource: ResourceMetrics) {
    this.#resource = resource;
  }

  /** All metrics, by name. */
  get metrics() {
    return this.#resource.scopeMetrics.flatMap((scope) => scope.metrics);
  }

  get scopes() {
    return this.#resource.scopeMetrics.map(({ scope }) => scope);
  }

  points(name: string): readonly Point[] {
    const found = this.metrics.filter(({ descriptor }) => descriptor.name === name);
    return found.flatMap(({ dataPoints }) => dataPoints as readonly Point[]);
  }

  /** The value of one series, without `headgate.name`; undefined: there is none. */
  value(name: string, labels: Labels = {}, limiter = 'default'): number | undefined {
    const all = { 'headgate.name': limiter, ...labels };
    return this.points(name).find((point) => hasLabels(point, all))?.value as number | undefined;
  }

  /** Count and sum of a histogram. */
  histogram(name: string, labels: Labels = {}, limiter = 'default') {
    const all = { 'headgate.name': limiter, ...labels };
    const value = this.points(name).find((point) => hasLabels(point, all))?.value;
    const { count, sum } = (value as Histogram | undefined) ?? { count: 0, sum: 0 };
    return { count, sum };
  }
}

/** An SDK in memory, registered for the process until `stop`. */
export function startSdk(options: { readonly sampler?: Sampler } = {}) {
  const reader = new PullReader();
  const spans = new InMemorySpanExporter();
  const tracerProvider = new TracerProvider({
    ...options,
    spanProcessors: [new SimpleSpanProcessor({ exporter: spans })],
  });
  const meterProvider = new MeterProvider({ readers: [reader] });
  const manager = new AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(manager);
  trace.setGlobalTracerProvider(tracerProvider);
  metrics.setGlobalMeterProvider(meterProvider);
  const finished = (name?: string): ReadableSpan[] =>
    spans.getFinishedSpans().filter((span) => name === undefined || span.name === name);
  return {
    tracer: trace.getTracer('test'),
    tracerProvider,
    meterProvider,
    finished,
    forget: () => spans.reset(),
    collect: async () => new Collected((await reader.collect()).resourceMetrics),
    stop: async () => {
      await meterProvider.shutdown();
      await tracerProvider.shutdown();
      unregister();
    },
  };
}

export type Sdk = ReturnType<typeof startSdk>;

/** Leaves nothing registered in the process. */
export function unregister(): void {
  context.disable();
  trace.disable();
  metrics.disable();
  propagation.disable();
}

export function parentOf(span: ReadableSpan): string | undefined {
  return span.parentSpanContext?.spanId;
}

/** Length of a span in ms. */
export function lengthOf({ duration: [seconds, nanos] }: ReadableSpan): number {
  return Math.round(seconds * 1000 + nanos / 1e6);
}

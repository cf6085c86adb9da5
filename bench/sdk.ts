/**
 * An OpenTelemetry SDK that collects metrics every second, and counts spans instead of sending
 * them.
 */
import { context, metrics, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import {
  ParentBasedSampler,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';

const COLLECT_MS = 1_000;

export interface CountingSdk {
  /** How often metrics have been collected. */
  readonly collections: number;
  /** The number of ended spans with a name. */
  spans(name: string): number;
  /** The sum over a counter's series, collected now. */
  total(counter: string): Promise<number>;
}

/** @param sampled the share of requests that are traced; undefined: metrics only */
export function startSdk(sampled: number | undefined): CountingSdk {
  let collections = 0;
  let latest: ResourceMetrics | undefined;
  const exporter: PushMetricExporter = {
    export: (collected, done) => {
      collections += 1;
      latest = collected;
      done({ code: 0 });
    },
    selectAggregationTemporality: () => AggregationTemporality.CUMULATIVE,
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: COLLECT_MS,
    exportTimeoutMillis: COLLECT_MS,
  });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  const counts = new Map<string, number>();
  if (sampled !== undefined) {
    const counting: SpanProcessor = {
      onStart: () => {},
      onEnd: ({ name }) => void counts.set(name, (counts.get(name) ?? 0) + 1),
      forceFlush: async () => {},
      shutdown: async () => {},
    };
    const sampler = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampled) });
    trace.setGlobalTracerProvider(new TracerProvider({ sampler, spanProcessors: [counting] }));
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  }
  return {
    get collections() {
      return collections;
    },
    spans: (name) => counts.get(name) ?? 0,
    total: async (counter) => {
      await reader.forceFlush();
      const found = latest?.scopeMetrics
        .flatMap((scope) => scope.metrics)
        .find(({ descriptor }) => descriptor.name === counter);
      const values = found?.dataPoints.map(({ value }) => Number(value)) ?? [];
      return values.reduce((sum, value) => sum + value, 0);
    },
  };
}

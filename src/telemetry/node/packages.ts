import type * as MetricExporter from '@opentelemetry/exporter-metrics-otlp-proto';
import type * as Prometheus from '@opentelemetry/exporter-prometheus';
import type * as TraceExporter from '@opentelemetry/exporter-trace-otlp-proto';
import type * as Resources from '@opentelemetry/resources';
import type * as Metrics from '@opentelemetry/sdk-metrics';
import type * as Node from '@opentelemetry/sdk-node';
import type * as Trace from '@opentelemetry/sdk-trace';

/** The exports of the optional packages that `startTelemetry` uses. */
export interface Packages {
  readonly NodeSDK: typeof Node.NodeSDK;
  readonly resources: typeof Resources;
  readonly ParentBasedSampler: typeof Trace.ParentBasedSampler;
  readonly TraceIdRatioBasedSampler: typeof Trace.TraceIdRatioBasedSampler;
  readonly BatchSpanProcessor: typeof Trace.BatchSpanProcessor;
  readonly PeriodicExportingMetricReader: typeof Metrics.PeriodicExportingMetricReader;
  readonly AggregationTemporality: typeof Metrics.AggregationTemporality;
  readonly AggregationType: typeof Metrics.AggregationType;
  readonly DataPointType: typeof Metrics.DataPointType;
  readonly InstrumentType: typeof Metrics.InstrumentType;
  readonly PrometheusExporter: typeof Prometheus.PrometheusExporter;
  readonly OTLPTraceExporter: typeof TraceExporter.OTLPTraceExporter;
  readonly OTLPMetricExporter: typeof MetricExporter.OTLPMetricExporter;
}

const NAMES = [
  '@opentelemetry/sdk-node',
  '@opentelemetry/sdk-trace',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/resources',
  '@opentelemetry/exporter-prometheus',
  '@opentelemetry/exporter-trace-otlp-proto',
  '@opentelemetry/exporter-metrics-otlp-proto',
];

/**
 * Loads the optional packages.
 * @throws Error with the command that installs them, if a package is missing
 */
export async function loadPackages(): Promise<Packages> {
  try {
    return await load();
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
    const error = new Error(
      `startTelemetry needs packages that are not installed: npm install @opentelemetry/api@1.9 ${NAMES.join(' ')}`,
      { cause },
    );
    throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' });
  }
}

async function load(): Promise<Packages> {
  const [node, trace, metrics, resources, prometheus, traceExporter, metricExporter] =
    await Promise.all([
      import('@opentelemetry/sdk-node'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/sdk-metrics'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/exporter-prometheus'),
      import('@opentelemetry/exporter-trace-otlp-proto'),
      import('@opentelemetry/exporter-metrics-otlp-proto'),
    ]);
  return {
    NodeSDK: node.NodeSDK,
    resources,
    ParentBasedSampler: trace.ParentBasedSampler,
    TraceIdRatioBasedSampler: trace.TraceIdRatioBasedSampler,
    BatchSpanProcessor: trace.BatchSpanProcessor,
    PeriodicExportingMetricReader: metrics.PeriodicExportingMetricReader,
    AggregationTemporality: metrics.AggregationTemporality,
    AggregationType: metrics.AggregationType,
    DataPointType: metrics.DataPointType,
    InstrumentType: metrics.InstrumentType,
    PrometheusExporter: prometheus.PrometheusExporter,
    OTLPTraceExporter: traceExporter.OTLPTraceExporter,
    OTLPMetricExporter: metricExporter.OTLPMetricExporter,
  };
}

function isMissing(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  return code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
}

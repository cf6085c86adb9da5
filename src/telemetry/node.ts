import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IMetricReader } from '@opentelemetry/sdk-metrics';
import type { NodeSDK } from '@opentelemetry/sdk-node';
import type { BatchSpanProcessor, Sampler } from '@opentelemetry/sdk-trace';
import { print } from '../util/print.ts';
import { REQUESTS_OF_FETCH, warnOfSdkRetries } from '../util/sdk-retries.ts';
import { globalMeter, histogramFactories } from './meter.ts';
import { Aggregation, wantsAggregated } from './node/aggregation.ts';
import { MetricsPage, metricReader, spanProcessor, type Warn } from './node/exporters.ts';
import { loadPackages, type Packages } from './node/packages.ts';
import { Registration } from './node/registration.ts';
import { detectorsOf, resourceOf } from './node/resource.ts';
import {
  checkStartOptions,
  type Environment,
  readEnvironment,
  type StartOptions,
  unsupported,
} from './node/start-options.ts';

export type { StartOptions } from './node/start-options.ts';

/** The default port of OpenTelemetry's Prometheus exporter. */
const DEFAULT_PORT = 9464;
const DEFAULT_HOST = '127.0.0.1';
/** How long a shutdown may take. */
const SHUTDOWN_MS = 5_000;

/** Running telemetry. */
export interface Telemetry {
  /** The address of the metrics page; undefined: there is none. */
  readonly prometheusUrl: string | undefined;
  /** The OTLP endpoint of traces; undefined: there is none. */
  readonly tracesEndpoint: string | undefined;
  /** The OTLP endpoint of metrics; undefined: there is none. */
  readonly metricsEndpoint: string | undefined;
  /**
   * Exports what is left, then stops; within 5 s even if an endpoint does not answer. Never
   * rejects.
   */
  shutdown(): Promise<void>;
}

/**
 * Starts an OpenTelemetry SDK for programs that have none: a metrics page for Prometheus, and
 * traces and metrics by OTLP if an endpoint is given. Start it before you make limiters and
 * streams. Each later failure is one line on standard error, and affects no request.
 *
 * @throws RangeError or TypeError that names a wrong option; Error that names the missing packages
 * @example
 * const telemetry = await startTelemetry({ serviceName: 'labeller' });
 * console.log(telemetry.prometheusUrl); // http://127.0.0.1:9464/metrics
 */
export async function startTelemetry(options: StartOptions): Promise<Telemetry> {
  checkStartOptions(options);
  const environment = readEnvironment(process.env);
  if (environment.isDisabled) return NOTHING;
  const packages = await loadPackages();
  const { NodeSDK, PrometheusExporter } = packages;
  const warn: Warn = (message) => console.error(`headgate telemetry: ${message}`);
  const { tracesUrl, metricsUrl } = environment;
  const endpoint = environment.endpoint ?? options.otlpEndpoint;
  const tracesEndpoint = endpointOf(environment.traces, tracesUrl ?? endpoint);
  const metricsEndpoint = endpointOf(environment.metrics, metricsUrl ?? endpoint);
  const aggregation = new Aggregation(packages);
  const metricProducers = [aggregation];
  const page = wantsPage(environment, options)
    ? new MetricsPage(new PrometheusExporter({ preventServerStart: true, metricProducers }))
    : undefined;
  const prometheusUrl = await openPage(page, environment, options, warn);
  const readers: IMetricReader[] = [];
  if (page !== undefined && prometheusUrl !== undefined) readers.push(page.exporter);
  if (metricsEndpoint !== undefined) {
    const url = metricsUrl ?? urlOf(metricsEndpoint, 'metrics');
    readers.push(metricReader(packages, url, aggregation, warn));
  }
  const spanProcessors = processorsOf(packages, environment, tracesEndpoint, warn);
  const sdk = new NodeSDK({
    serviceName: environment.serviceName ?? options.serviceName,
    resource: resourceOf(packages, options),
    ...(!environment.hasDetectors && { resourceDetectors: detectorsOf(packages) }),
    metricReaders: readers,
    ...(spanProcessors && { spanProcessors }),
    ...(process.env.OTEL_LOGS_EXPORTER === undefined && { logRecordProcessors: [] }),
    ...(!environment.hasSampler && { sampler: samplerOf(packages, options.sampleRatio ?? 1) }),
  });
  for (const line of unsupported(environment, { tracesEndpoint, metricsEndpoint })) warn(line);
  const registration = new Registration({
    traces: spanProcessors === undefined || spanProcessors.length > 0,
    metrics: readers.length > 0,
  });
  sdk.start();
  const kept = registration.began();
  if (kept !== '') warn(`${kept} stay with the OpenTelemetry SDK that is registered already`);
  // If another SDK was registered first, headgate's metrics stay with that SDK.
  if (registration.hasMetrics) aggregateFor(aggregation, readers, packages);
  subscribe(REQUESTS_OF_FETCH, warnOfSdkRetries);
  let ending: Promise<void> | undefined;
  const shutdown = () => {
    ending ??= end(sdk, registration, page, warn);
    return ending;
  };
  return { prometheusUrl, tracesEndpoint, metricsEndpoint, shutdown };
}

const NOTHING: Telemetry = {
  prometheusUrl: undefined,
  tracesEndpoint: undefined,
  metricsEndpoint: undefined,
  shutdown: async () => {},
};

/** The OTLP endpoint of a signal; undefined: it is not sent. */
function endpointOf(
  exporters: readonly string[] | undefined,
  given: string | undefined,
): string | undefined {
  if (exporters === undefined) return given;
  return exporters.includes('otlp') ? (given ?? 'http://localhost:4318') : undefined;
}

function urlOf(endpoint: string, signal: string): string {
  return `${endpoint.replace(/\/+$/, '')}/v1/${signal}`;
}

function wantsPage({ metrics }: Environment, { prometheusPort }: StartOptions): boolean {
  return metrics === undefined ? prometheusPort !== false : metrics.includes('prometheus');
}

/** The processors of spans; undefined: the SDK reads other exporters from the environment. */
function processorsOf(
  packages: Packages,
  { traces, tracesUrl }: Environment,
  endpoint: string | undefined,
  warn: Warn,
): BatchSpanProcessor[] | undefined {
  if (traces?.some((name) => name !== 'otlp' && name !== 'none')) return undefined;
  if (endpoint === undefined) return [];
  return [spanProcessor(packages, tracesUrl ?? urlOf(endpoint, 'traces'), warn)];
}

/** Lets headgate make the histograms of its meter, if all readers can take them. */
function aggregateFor(
  aggregation: Aggregation,
  readers: readonly IMetricReader[],
  packages: Packages,
): void {
  const meter = globalMeter();
  if (meter === undefined || !readers.every((each) => wantsAggregated(each, packages))) return;
  histogramFactories.set(meter, aggregation.make);
}

async function openPage(
  page: MetricsPage | undefined,
  environment: Environment,
  options: StartOptions,
  warn: Warn,
): Promise<string | undefined> {
  const host = environment.prometheusHost ?? options.prometheusHost ?? DEFAULT_HOST;
  const chosen = options.prometheusPort === false ? undefined : options.prometheusPort;
  const port = environment.prometheusPort ?? chosen ?? DEFAULT_PORT;
  try {
    return await page?.open(host, port);
  } catch (error) {
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    const why = isTaken ? 'the port is in use' : print(error);
    warn(`no page of metrics at ${host}:${port}: ${why}`);
    return undefined;
  }
}

function samplerOf(
  { ParentBasedSampler, TraceIdRatioBasedSampler }: Packages,
  ratio: number,
): Sampler {
  return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
}

async function end(
  sdk: NodeSDK,
  registration: Registration,
  page: MetricsPage | undefined,
  warn: Warn,
): Promise<void> {
  unsubscribe(REQUESTS_OF_FETCH, warnOfSdkRetries);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), SHUTDOWN_MS);
  });
  try {
    const ended = await Promise.race([sdk.shutdown(), late]);
    if (ended === 'late') warn(`shutdown took over ${SHUTDOWN_MS} ms, and was not waited for`);
  } catch (error) {
    warn(`shutdown: ${print(error)}`);
  } finally {
    clearTimeout(timer);
    registration.end();
    page?.close();
  }
}

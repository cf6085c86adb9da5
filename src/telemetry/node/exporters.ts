import { createServer, type Server } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import type { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import type { MetricProducer, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import type { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import type { Packages } from './packages.ts';

/** Capacity of the export queue of spans. A burst of requests exceeds the default of 2048. */
const MAX_SPANS = 16_384;
/** The number of spans in one export, the default of the SDK. */
const BATCH_SPANS = 512;
/** How long a failed export is retried. */
const TIMEOUT_MS = 5_000;

/** Prints a failure. */
export type Warn = (message: string) => void;

/** The result of an export, of any signal. */
interface Exporter<T> {
  export(items: T, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
}

/** @param url of OTLP over HTTP, with the path of traces */
export function spanProcessor(
  { OTLPTraceExporter, BatchSpanProcessor }: Packages,
  url: string,
  warn: Warn,
): BatchSpanProcessor {
  const maxQueueSize = amount('OTEL_BSP_MAX_QUEUE_SIZE') ?? MAX_SPANS;
  const maxExportBatchSize = amount('OTEL_BSP_MAX_EXPORT_BATCH_SIZE') ?? BATCH_SPANS;
  const exporter = new OTLPTraceExporter({
    url,
    timeoutMillis: timeout('TRACES'),
    // The shutdown exports the whole queue at once, beside the export that runs. Beyond its own
    // limit of 30, the exporter would drop batches.
    concurrencyLimit: Math.ceil(maxQueueSize / maxExportBatchSize) + 1,
  });
  const scheduledDelayMillis = amount('OTEL_BSP_SCHEDULE_DELAY');
  const exportTimeoutMillis = amount('OTEL_BSP_EXPORT_TIMEOUT');
  return new BatchSpanProcessor({
    exporter: warning(exporter, 'traces', url, warn),
    maxQueueSize,
    maxExportBatchSize,
    ...(scheduledDelayMillis !== undefined && { scheduledDelayMillis }),
    ...(exportTimeoutMillis !== undefined && { exportTimeoutMillis }),
  });
}

/**
 * @param url of OTLP over HTTP, with the path of metrics
 * @param producer of the metrics that the SDK does not aggregate
 */
export function metricReader(
  { OTLPMetricExporter, PeriodicExportingMetricReader }: Packages,
  url: string,
  producer: MetricProducer,
  warn: Warn,
): PeriodicExportingMetricReader {
  const exporter = new OTLPMetricExporter({ url, timeoutMillis: timeout('METRICS') });
  const every = amount('OTEL_METRIC_EXPORT_INTERVAL');
  return new PeriodicExportingMetricReader({
    exporter: warning(exporter, 'metrics', url, warn),
    metricProducers: [producer],
    ...(every !== undefined && { exportIntervalMillis: every, exportTimeoutMillis: every }),
  });
}

/** The positive number in an environment variable; undefined: it has none. */
function amount(variable: string): number | undefined {
  const value = Number(process.env[variable]);
  return value > 0 ? value : undefined;
}

function timeout(signal: string): number {
  const [own, all] = [`OTEL_EXPORTER_OTLP_${signal}_TIMEOUT`, 'OTEL_EXPORTER_OTLP_TIMEOUT'];
  return amount(own) ?? amount(all) ?? TIMEOUT_MS;
}

/**
 * Makes an exporter print its first failure, and when it works again. To the SDK each export seems
 * to succeed: its shutdown would end with the first failure, before the other signal is exported.
 */
export function warning<T, E extends Exporter<T>>(
  exporter: E,
  signal: string,
  url: string,
  warn: Warn,
): E {
  const send = exporter.export.bind(exporter);
  let isFailing = false;
  exporter.export = (items, done) => {
    send(items, ({ code, error }) => {
      if (error === undefined && code === 0 && isFailing) {
        isFailing = false;
        warn(`${signal} are exported again`);
      } else if (error !== undefined && !isFailing) {
        isFailing = true;
        const why = whyOf(error, withoutSecrets(url));
        warn(`${signal} could not be exported, and are lost while that lasts: ${why}`);
      }
      done({ code: 0 });
    });
  };
  return exporter;
}

/** The error of the SDK for statuses that it has retried in vain. It does not say which. */
const RETRIED = 'Export failed with retryable status';

/**
 * The reason of a failure, such as `Not Found (404 from http://127.0.0.1:4318/v1/traces)`. Node's
 * error for several refused addresses has a code and no message.
 */
function whyOf(error: Error & { readonly code?: unknown }, url: string): string {
  const { message, code } = error;
  if (message === RETRIED) return `429, 502, 503 or 504 from ${url}`;
  if (typeof code === 'number') return `${message} (${code} from ${url})`.trim();
  return `${message === '' ? String(code ?? error.name) : message} (${url})`;
}

/** An address without user, password and query, which may hold a key. */
function withoutSecrets(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** The path of the metrics page. */
const PATH = '/metrics';

/** Addresses that mean all addresses of this machine. A browser cannot open them. */
const EVERYWHERE = ['0.0.0.0', '::'];

/** Names that always resolve to this machine; the last one in containers. */
const LOCAL_NAMES = ['localhost', 'host.docker.internal'];

function isLocal(host: string): boolean {
  return LOCAL_NAMES.includes(host) || host === '::1' || /^127\.[\d.]+$/.test(host);
}

/** A metrics page for Prometheus. It does not keep the process alive. */
export class MetricsPage {
  readonly exporter: PrometheusExporter;
  readonly #server: Server;
  /** The address that the server listens at. */
  #address = '';

  constructor(exporter: PrometheusExporter) {
    this.exporter = exporter;
    this.#server = createServer((request, response) => {
      if (!this.#isAllowed(request.headers.host)) response.writeHead(403).end();
      else if (request.url?.split('?')[0] !== PATH) response.writeHead(404).end();
      else if (request.method !== 'GET' && request.method !== 'HEAD') {
        response.writeHead(405, { allow: 'GET, HEAD' }).end();
      } else this.exporter.getMetricsRequestHandler(request, response);
    }).unref();
  }

  /** @returns its address on this machine. Rejects if the port is not available */
  async open(host: string, port: number): Promise<string> {
    this.#address = host;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      // Processes of a node:cluster would share the port, and each request would reach another one.
      this.#server.listen({ host, port, exclusive: true }, resolve);
    });
    const { port: given } = this.#server.address() as AddressInfo;
    const shown = EVERYWHERE.includes(host) ? '127.0.0.1' : host;
    return `http://${shown.includes(':') ? `[${shown}]` : shown}:${given}${PATH}`;
  }

  /**
   * A page on a loopback address must not be read by a website whose name resolves to it (DNS
   * rebinding). A page on another address may have any name.
   */
  #isAllowed(header = ''): boolean {
    if (!isLocal(this.#address)) return true;
    const name = header.replace(/:\d+$/, '').toLowerCase();
    return name === this.#address || isLocal(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0;
  }

  /** Closes all connections. */
  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

import { checkKeys, show, wrongType, wrongValue } from '../../util/check.ts';

/** The standard OTEL_* variables take precedence over these options. */
export interface StartOptions {
  /** The name of the program. */
  readonly serviceName: string;
  /** The version of the program. Default: the version in its package.json if npm has started it. */
  readonly serviceVersion?: string;
  /** Port of the metrics page; 0 for any free port, `false` for no page. Default 9464. */
  readonly prometheusPort?: number | false;
  /**
   * Address of the metrics page; `0.0.0.0` for all, for example in a container. Default 127.0.0.1.
   */
  readonly prometheusHost?: string;
  /**
   * Endpoint of OTLP over HTTP, such as `http://127.0.0.1:4318` for a local Jaeger. Default: none.
   */
  readonly otlpEndpoint?: string;
  /**
   * The share of requests that are traced, from 0 to 1, if their caller has not decided. Default 1.
   */
  readonly sampleRatio?: number;
}

const KEYS = [
  'serviceName',
  'serviceVersion',
  'prometheusPort',
  'prometheusHost',
  'otlpEndpoint',
  'sampleRatio',
];

/** @throws RangeError or TypeError that names a wrong option */
export function checkStartOptions(options: StartOptions): void {
  checkKeys('startTelemetry', options, KEYS);
  const { serviceName, serviceVersion, prometheusPort, prometheusHost, otlpEndpoint, sampleRatio } =
    options;
  if (typeof serviceName !== 'string' || serviceName === '') {
    wrongType('serviceName', 'a string of text', serviceName);
  }
  if (serviceVersion !== undefined && typeof serviceVersion !== 'string') {
    wrongType('serviceVersion', 'a string', serviceVersion);
  }
  if (prometheusPort !== undefined && prometheusPort !== false) {
    const isPort = Number.isInteger(prometheusPort) && prometheusPort >= 0;
    if (!isPort || prometheusPort > 65_535) {
      wrongValue('prometheusPort', 'an integer from 0 to 65535, or false', prometheusPort);
    }
  }
  if (prometheusHost !== undefined && (typeof prometheusHost !== 'string' || !prometheusHost)) {
    wrongType('prometheusHost', 'an address', prometheusHost);
  }
  if (otlpEndpoint !== undefined && !isHttp(otlpEndpoint)) {
    wrongType('otlpEndpoint', 'a URL, such as http://127.0.0.1:4318', otlpEndpoint);
  }
  if (sampleRatio !== undefined && !(sampleRatio >= 0 && sampleRatio <= 1)) {
    throw new RangeError(`\`sampleRatio\` must be a number from 0 to 1, got ${show(sampleRatio)}`);
  }
}

function isHttp(address: unknown): boolean {
  return /^https?:\/\//i.test(String(address)) && URL.canParse(String(address));
}

/** The values of the standard OTEL_* variables; undefined for one that is not set. */
export interface Environment {
  readonly isDisabled: boolean;
  readonly hasSampler: boolean;
  readonly hasDetectors: boolean;
  readonly serviceName: string | undefined;
  /** The names of the exporters of a signal. */
  readonly traces: readonly string[] | undefined;
  readonly metrics: readonly string[] | undefined;
  /** The endpoint of all signals. */
  readonly endpoint: string | undefined;
  /** The address of one signal, with its path. */
  readonly tracesUrl: string | undefined;
  readonly metricsUrl: string | undefined;
  /** The variables with an endpoint that is no address of HTTP, as `NAME=value`. */
  readonly wrongEndpoints: readonly string[];
  /** The protocol of OTLP for each signal. */
  readonly tracesProtocol: string | undefined;
  readonly metricsProtocol: string | undefined;
  readonly prometheusHost: string | undefined;
  /** 0: any free port. */
  readonly prometheusPort: number | undefined;
}

export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  const read = (name: string) => env[name]?.trim() || undefined;
  const list = (name: string) =>
    read(name)
      ?.split(',')
      .map((word) => word.trim());
  const wrongEndpoints: string[] = [];
  const address = (name: string) => {
    const value = read(name);
    if (value === undefined || isHttp(value)) return value;
    wrongEndpoints.push(`${name}=${value}`);
    return undefined;
  };
  const port = Number(read('OTEL_EXPORTER_PROMETHEUS_PORT'));
  const protocol = read('OTEL_EXPORTER_OTLP_PROTOCOL');
  return {
    isDisabled: read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true',
    hasSampler: read('OTEL_TRACES_SAMPLER') !== undefined,
    hasDetectors: read('OTEL_NODE_RESOURCE_DETECTORS') !== undefined,
    serviceName: read('OTEL_SERVICE_NAME') ?? serviceOf(list('OTEL_RESOURCE_ATTRIBUTES')),
    traces: list('OTEL_TRACES_EXPORTER'),
    metrics: list('OTEL_METRICS_EXPORTER'),
    endpoint: address('OTEL_EXPORTER_OTLP_ENDPOINT'),
    tracesUrl: address('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'),
    metricsUrl: address('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT'),
    wrongEndpoints,
    tracesProtocol: read('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? protocol,
    metricsProtocol: read('OTEL_EXPORTER_OTLP_METRICS_PROTOCOL') ?? protocol,
    prometheusHost: read('OTEL_EXPORTER_PROMETHEUS_HOST'),
    prometheusPort: Number.isInteger(port) && port >= 0 && port <= 65_535 ? port : undefined,
  };
}

function serviceOf(attributes: readonly string[] | undefined): string | undefined {
  const prefix = 'service.name=';
  return attributes?.find((attribute) => attribute.startsWith(prefix))?.slice(prefix.length);
}

/** The endpoints that OTLP is sent to; undefined for a signal that is not sent. */
interface Endpoints {
  readonly tracesEndpoint: string | undefined;
  readonly metricsEndpoint: string | undefined;
}

/** One line for each value of a variable that has no effect. */
export function unsupported(
  { tracesProtocol, metricsProtocol, metrics = [], wrongEndpoints }: Environment,
  { tracesEndpoint, metricsEndpoint }: Endpoints,
): readonly string[] {
  const lines = wrongEndpoints.map(
    (variable) => `${variable} has no effect: an address begins with http:// or https://`,
  );
  const protocols = new Set([
    tracesEndpoint === undefined ? undefined : tracesProtocol,
    metricsEndpoint === undefined ? undefined : metricsProtocol,
  ]);
  for (const protocol of protocols) {
    if (protocol === undefined || protocol === 'http/protobuf') continue;
    lines.push(`the OTLP protocol ${protocol} is not supported; http/protobuf is used`);
  }
  for (const exporter of metrics) {
    if (['otlp', 'prometheus', 'none'].includes(exporter)) continue;
    lines.push(`OTEL_METRICS_EXPORTER=${exporter} is not supported; it exports no metrics`);
  }
  return lines;
}

/** The values of the standard OTEL_* variables; undefined for one that is not set. */
export interface Environment {
  readonly isDisabled: boolean;
  readonly hasSampler: boolean;
  readonly serviceName: string | undefined;
  /** Exporters by name, of each signal. */
  readonly traces: readonly string[] | undefined;
  readonly metrics: readonly string[] | undefined;
  readonly tracesEndpoint: string | undefined;
  readonly metricsEndpoint: string | undefined;
  /** Whether OTLP must use another protocol than protobuf over HTTP. */
  readonly isOtherProtocol: boolean;
  readonly prometheusHost: string | undefined;
  /** 0: any that is free. */
  readonly prometheusPort: number | undefined;
}

export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  const read = (name: string) => env[name]?.trim() || undefined;
  const list = (name: string) =>
    read(name)
      ?.split(',')
      .map((word) => word.trim());
  const endpoint = read('OTEL_EXPORTER_OTLP_ENDPOINT');
  const port = Number(read('OTEL_EXPORTER_PROMETHEUS_PORT'));
  const protocols = [
    read('OTEL_EXPORTER_OTLP_PROTOCOL'),
    read('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'),
    read('OTEL_EXPORTER_OTLP_METRICS_PROTOCOL'),
  ];
  return {
    isDisabled: read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true',
    hasSampler: read('OTEL_TRACES_SAMPLER') !== undefined,
    serviceName: read('OTEL_SERVICE_NAME') ?? serviceOf(list('OTEL_RESOURCE_ATTRIBUTES')),
    traces: list('OTEL_TRACES_EXPORTER'),
    metrics: list('OTEL_METRICS_EXPORTER'),
    tracesEndpoint: read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? endpoint,
    metricsEndpoint: read('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT') ?? endpoint,
    isOtherProtocol: protocols.some((value) => value !== undefined && value !== 'http/protobuf'),
    prometheusHost: read('OTEL_EXPORTER_PROMETHEUS_HOST'),
    prometheusPort: Number.isInteger(port) && port >= 0 && port <= 65_535 ? port : undefined,
  };
}

function serviceOf(attributes: readonly string[] | undefined): string | undefined {
  const prefix = 'service.name=';
  return attributes?.find((attribute) => attribute.startsWith(prefix))?.slice(prefix.length);
}

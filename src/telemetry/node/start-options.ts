import { checkInteger, checkKeys, show } from '../../util/check.ts';

/** The standard OTEL_* variables take precedence over these options. */
export interface StartOptions {
  /** The name of the program. */
  readonly serviceName: string;
  /** The version of the program. Default: that of its package, where npm has started it. */
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
    throw new TypeError(`\`serviceName\` must be a string of text, got ${show(serviceName)}`);
  }
  if (serviceVersion !== undefined && typeof serviceVersion !== 'string') {
    throw new TypeError(`\`serviceVersion\` must be a string, got ${show(serviceVersion)}`);
  }
  if (prometheusPort !== undefined && prometheusPort !== false) {
    checkInteger('prometheusPort', prometheusPort, 0);
    if (prometheusPort > 65_535) {
      throw new RangeError(`\`prometheusPort\` must be at most 65535, got ${prometheusPort}`);
    }
  }
  if (prometheusHost !== undefined && (typeof prometheusHost !== 'string' || !prometheusHost)) {
    throw new TypeError(`\`prometheusHost\` must be an address, got ${show(prometheusHost)}`);
  }
  if (otlpEndpoint !== undefined && !URL.canParse(otlpEndpoint)) {
    throw new TypeError(`\`otlpEndpoint\` must be a URL, got ${show(otlpEndpoint)}`);
  }
  if (sampleRatio !== undefined && !(sampleRatio >= 0 && sampleRatio <= 1)) {
    throw new RangeError(`\`sampleRatio\` must be a number from 0 to 1, got ${show(sampleRatio)}`);
  }
}

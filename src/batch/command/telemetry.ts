import { codeOf } from '../errors.ts';

/** Any of these asks for telemetry. */
const VARIABLES = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_METRICS_EXPORTER',
  'OTEL_TRACES_EXPORTER',
];

/** Exports what is left, and stops. */
export type StopTelemetry = () => Promise<void>;

/**
 * Starts the OpenTelemetry SDK where the standard variables ask for it and its packages are installed.
 * Variables that are meant for other programs of the same shell are no reason to complain.
 */
export async function startCommandTelemetry(env: NodeJS.ProcessEnv): Promise<StopTelemetry> {
  const isAsked = VARIABLES.some((name) => (env[name]?.trim() ?? '') !== '');
  if (!isAsked) return async () => {};
  try {
    const { startTelemetry } = await import('headgate/telemetry');
    const { shutdown } = await startTelemetry({ serviceName: 'headgate', prometheusPort: false });
    return shutdown;
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    return async () => {};
  }
}

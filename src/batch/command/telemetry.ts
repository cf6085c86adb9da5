import { codeOf } from '../errors.ts';

/** Telemetry is on if one of these variables is set. */
const VARIABLES = [
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_METRICS_EXPORTER',
  'OTEL_TRACES_EXPORTER',
];

/** Exports the remaining data, and stops. */
export type StopTelemetry = () => Promise<void>;

/**
 * Starts the OpenTelemetry SDK if a standard variable asks for it and its packages are installed.
 * A missing package is not an error: the variables may be meant for other programs.
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

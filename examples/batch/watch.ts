import { once } from 'node:events';
import { startTelemetry, type Telemetry } from 'headgate/telemetry';
import type { Options } from './options.ts';

/**
 * Starts metrics and traces, and prints their addresses on standard error.
 *
 * @returns undefined if they cannot be started, which does not stop the run
 */
export async function watch({ hold }: Pick<Options, 'hold'>): Promise<Telemetry | undefined> {
  try {
    const telemetry = await startTelemetry({
      serviceName: 'headgate-batch',
      // A container on Linux reaches this machine at an address that is not 127.0.0.1.
      ...(hold && { prometheusHost: '0.0.0.0' }),
    });
    for (const line of addressesOf(telemetry, hold)) console.error(line);
    return telemetry;
  } catch (error) {
    console.error(`no metrics and no traces: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

/** The addresses of metrics and traces, one a line. */
function addressesOf(
  { prometheusUrl, tracesEndpoint, metricsEndpoint }: Omit<Telemetry, 'shutdown'>,
  hold: boolean,
): string[] {
  const isOpen = hold && process.env.OTEL_EXPORTER_PROMETHEUS_HOST === undefined;
  const whose = isOpen ? ', open to other machines (OTEL_EXPORTER_PROMETHEUS_HOST)' : '';
  return [
    ...(prometheusUrl === undefined ? [] : [`metrics: ${prometheusUrl}${whose}`]),
    ...(metricsEndpoint === undefined ? [] : [`metrics by OTLP to ${metricsEndpoint}`]),
    ...(tracesEndpoint === undefined ? [] : [`traces by OTLP to ${tracesEndpoint}`]),
  ];
}

/** Keeps the metrics page open until the program is ended by a signal. */
export async function hold(telemetry: Telemetry | undefined): Promise<void> {
  if (telemetry?.prometheusUrl === undefined) {
    console.error('nothing to hold: there is no page of metrics');
    return;
  }
  console.error(`\nthe metrics stay at ${telemetry.prometheusUrl} until Ctrl-C`);
  // This timer keeps the process alive.
  const alive = setInterval(() => {}, 2 ** 30);
  const ending = new AbortController();
  const { signal } = ending;
  await Promise.race([once(process, 'SIGINT', { signal }), once(process, 'SIGTERM', { signal })]);
  ending.abort();
  clearInterval(alive);
}

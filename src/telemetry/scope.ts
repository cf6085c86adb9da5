import { createNoopMeter, type Meter, metrics } from '@opentelemetry/api';
import { version } from '../model/version.ts';

/** The instrumentation scope of all metrics and spans. */
export const SCOPE = { name: 'headgate', version } as const;

/** The meter of the provider that is registered now; undefined: there is none. */
export function globalMeter(): Meter | undefined {
  const meter = metrics.getMeter(SCOPE.name, SCOPE.version);
  return meter === createNoopMeter() ? undefined : meter;
}

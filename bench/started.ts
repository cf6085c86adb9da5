/** Runs with the SDK of `startTelemetry`. Its metrics page is read after each run. */
import { startTelemetry } from 'headgate/telemetry';
import type { CountingSdk } from './sdk.ts';

export interface ReadSdk extends CountingSdk {
  /** Collects all metrics. */
  read(): Promise<void>;
}

export async function startedSdk(): Promise<ReadSdk> {
  const { prometheusUrl = '' } = await startTelemetry({ serviceName: 'bench', prometheusPort: 0 });
  let collections = 0;
  let page = '';
  const read = async () => {
    page = await (await fetch(prometheusUrl)).text();
    collections += 1;
  };
  return {
    get collections() {
      return collections;
    },
    read,
    // No endpoint for traces is set, so there are none.
    spans: () => 0,
    total: async (counter) => {
      await read();
      const series = new RegExp(`^${counter.replaceAll('.', '_')}_total\\{.*\\} (\\d+)$`, 'gm');
      return [...page.matchAll(series)].reduce((sum, [, value]) => sum + Number(value), 0);
    },
  };
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { throttle } from 'headgate';
import { telemetryInstrumentation } from 'headgate/advanced';
import { range } from 'rxjs';
import { expectEqual } from '../expect.ts';
import { type CountingSdk, startSdk } from '../sdk.ts';
import { type ReadSdk, startedSdk } from '../started.ts';
import type { WatchName } from '../watching.ts';
import type { ClientModule } from './client.ts';

/** The share of requests that are traced; undefined: metrics only. */
const SAMPLED = {
  'telemetry-metrics': undefined,
  'telemetry-1-percent': 0.01,
  'telemetry-all-spans': 1,
} as const;

/** `throttle` with default gates and different amounts of telemetry. */
export function watchedStream(name: WatchName): ClientModule {
  const isOff = name === 'telemetry-off';
  const isStarted = name === 'telemetry-started';
  const isAlone = isOff || isStarted || name === 'telemetry-no-sdk';
  const sampled = isAlone ? undefined : SAMPLED[name];
  const sdk = isAlone ? undefined : startSdk(sampled);
  let started: ReadSdk | undefined;
  let sent = 0;
  return {
    run: async (task, count, concurrency) => {
      sent += count;
      // During the first run, which warms up.
      if (isStarted) started ??= await startedSdk();
      const options = { concurrency, ...(isOff && { telemetry: false as const }) };
      await new Promise<void>((resolve, reject) => {
        range(0, count)
          .pipe(throttle(task, options))
          .subscribe({ complete: resolve, error: reject });
      });
      // Collect metrics here: tasks that do nothing leave no turn of the event loop for timers.
      await nextTurn();
      await started?.read();
    },
    prove: async () => {
      const watching = started ?? sdk;
      if (watching !== undefined) await expectWatched(watching, sent, sampled ?? 0);
      else expectEqual('a probe without an SDK', telemetryInstrumentation(), undefined);
    },
  };
}

/** Throws unless all requests were counted while they ran, and the expected share was traced. */
async function expectWatched(sdk: CountingSdk, sent: number, sampled: number): Promise<void> {
  expectEqual('metrics were collected meanwhile', sdk.collections > 0, true);
  expectEqual('requests counted', await sdk.total('headgate.requests'), sent);
  const traced = sdk.spans('headgate.request');
  expectEqual('attempts traced', sdk.spans('headgate.attempt'), traced);
  if (sampled === 0 || sampled === 1) expectEqual('requests traced', traced, sent * sampled);
  else expectEqual('some requests traced', Math.abs(traced / sent / sampled - 1) < 0.2, true);
}

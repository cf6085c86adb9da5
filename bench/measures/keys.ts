import { createLimiterGroup } from 'headgate';
import { expectEqual } from '../expect.ts';
import { CONCURRENCY, type KeysJob } from '../job.ts';

/** Nanoseconds for a request; each request has the next key, and all keys share the slots. */
export async function keys({ keys: count, tasks, warmUp }: KeysJob): Promise<number> {
  const group = createLimiterGroup((key: string) => key, { shared: { concurrency: CONCURRENCY } });
  const names = Array.from({ length: count }, (_, n) => `key ${n}`);
  let ended = 0;
  const task = async () => {
    ended += 1;
  };
  const send = (requests: number) =>
    Promise.all(
      Array.from({ length: requests }, (_, n) => group.run(names[n % count] ?? '', task)),
    );
  // The keys are created during the warm-up, so that their creation is not measured.
  await send(Math.max(warmUp, count));
  expectEqual('keys', group.keys.length, count);
  ended = 0;
  const start = performance.now();
  await send(tasks);
  const elapsedMs = performance.now() - start;
  expectEqual('timed requests', ended, tasks);
  expectEqual('slots taken in the end', group.snapshot().shared?.concurrency?.inFlight, 0);
  return (elapsedMs * 1e6) / tasks;
}

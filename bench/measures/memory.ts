import type { Task } from '../clients/client.ts';
import { loadClient } from '../clients/index.ts';
import { expectEqual } from '../expect.ts';
import { CONCURRENCY, type MemoryJob } from '../job.ts';

/** @returns the bytes of a waiting request */
export async function memory({ client, tasks, warmUp }: MemoryJob): Promise<number> {
  const { run, fill } = await loadClient(client);
  if (fill === undefined) {
    throw new TypeError(`\`client\` must know how to wait, got ${client}`);
  }
  await run(async () => {}, warmUp, CONCURRENCY);

  let started = 0;
  const never: Task = () => {
    started += 1;
    return new Promise(() => {});
  };
  const before = await bytesInUse();
  const { taken, held } = fill(never, tasks + CONCURRENCY, CONCURRENCY);
  const after = await bytesInUse();
  expectEqual('requests taken', taken, tasks + CONCURRENCY);
  expectEqual('requests started', started, CONCURRENCY);

  const perRequest = (after - before) / tasks;
  // A queue holds at least its values, with eight bytes each.
  if (held === undefined || perRequest < 8) {
    throw new Error(`requests that wait were not kept: ${perRequest} bytes each`);
  }
  return perRequest;
}

/** The reachable bytes after all pending turns: the heap, and buffers outside of it. */
async function bytesInUse(): Promise<number> {
  if (globalThis.gc === undefined) {
    throw new Error('memory is measured under --expose-gc');
  }
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    globalThis.gc();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

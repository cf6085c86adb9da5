import type { ClientModule } from '../clients/client.ts';
import { loadClient } from '../clients/index.ts';
import { expectEqual } from '../expect.ts';
import { CONCURRENCY, type TimeJob } from '../job.ts';

/** The number of tasks of the untimed check. */
const CHECK_TASKS = 400;

/** How long the check waits for the next task while fewer than `CONCURRENCY` run. */
const CHECK_PATIENCE_MS = 250;

/** @returns nanoseconds for a task */
export async function time({ client, tasks, repeat, warmUp }: TimeJob): Promise<number> {
  const { run, prove } = await loadClient(client);
  let ended = 0;
  const task = async () => {
    ended += 1;
  };
  await run(task, warmUp, CONCURRENCY);
  expectEqual('tasks run while warming up', ended, warmUp);

  ended = 0;
  const start = performance.now();
  for (let round = 0; round < repeat; round++) {
    await run(task, tasks, CONCURRENCY);
  }
  const elapsedMs = performance.now() - start;
  expectEqual('timed tasks run', ended, tasks * repeat);

  // Check at the end, so that the timed code has been compiled for one kind of task only.
  await check(run);
  await prove?.(CONCURRENCY);
  return (elapsedMs * 1e6) / (tasks * repeat);
}

/**
 * Checks that the client runs exactly `CONCURRENCY` tasks at once. The first tasks wait until that
 * many run, and 20 ms longer, so that a further task would be seen. (Bottleneck starts a task every
 * 2 ms, so tasks of a fixed duration would end before the slots are full.) A client with an
 * adaptive rate starts a few tasks, and more as these end: the first tasks also stop waiting when
 * no task has started for a while.
 */
async function check(run: ClientModule['run']): Promise<void> {
  let active = 0;
  let peak = 0;
  let ended = 0;
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const patience = setTimeout(() => open(), CHECK_PATIENCE_MS);
  const task = async () => {
    active += 1;
    peak = Math.max(peak, active);
    patience.refresh();
    if (active === CONCURRENCY) {
      setTimeout(open, 20);
    }
    await opened;
    await new Promise((resolve) => setTimeout(resolve, 1));
    active -= 1;
    ended += 1;
  };
  await run(task, CHECK_TASKS, CONCURRENCY);
  clearTimeout(patience);
  expectEqual('checked tasks run', ended, CHECK_TASKS);
  expectEqual('tasks at once', peak, CONCURRENCY);
}

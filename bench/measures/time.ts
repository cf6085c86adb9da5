import type { ClientModule } from '../clients/client.ts';
import { loadClient } from '../clients/index.ts';
import { expectEqual } from '../expect.ts';
import { CONCURRENCY, type TimeJob } from '../job.ts';

/** Tasks of the untimed check. */
const CHECK_TASKS = 1_000;

/** How long the check waits for a client to start as many tasks as it may. */
const CHECK_PATIENCE_MS = 10_000;

/** @returns nanoseconds a task */
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

  // Last, so that the timed tasks meet code that has seen one kind of task only.
  await check(run);
  await prove?.(CONCURRENCY);
  return (elapsedMs * 1e6) / (tasks * repeat);
}

/**
 * Shows that the client keeps the limit, and that it uses it: the first tasks wait until as many
 * run as may, and a little longer, for one more to show up. (Bottleneck starts a task every other
 * millisecond, so that tasks which just took a while would be over before the slots are full.)
 */
async function check(run: ClientModule['run']): Promise<void> {
  let active = 0;
  let peak = 0;
  let ended = 0;
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const task = async () => {
    active += 1;
    peak = Math.max(peak, active);
    if (active === CONCURRENCY) {
      setTimeout(open, 20);
    }
    await opened;
    await new Promise((resolve) => setTimeout(resolve, 1));
    active -= 1;
    ended += 1;
  };
  setTimeout(open, CHECK_PATIENCE_MS);
  await run(task, CHECK_TASKS, CONCURRENCY);
  expectEqual('checked tasks run', ended, CHECK_TASKS);
  expectEqual('tasks at once', peak, CONCURRENCY);
}

import type { ClientModule } from '../clients/client.ts';
import { loadClient } from '../clients/index.ts';
import { expectEqual } from '../expect.ts';
import { CONCURRENCY, type TimeJob } from '../job.ts';

/** Tasks of the untimed check. */
const CHECK_TASKS = 400;

/** How long the check waits for a client to start one more task, if not as many run as may. */
const CHECK_PATIENCE_MS = 250;

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
 * millisecond, so that tasks which just took a while would be over before the slots are full.) A
 * client whose rate adapts starts a few, and more as these end: they wait until it starts no more.
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

/**
 * One measure in one fresh process. Takes a `Job` as JSON in its only argument and prints its
 * `Measured` as one line of JSON.
 */

import type { ClientModule, ClientName, Task } from './clients/index.ts';
import { clients, isClientName } from './clients/index.ts';

/** The largest number of tasks that may run at once, for every client. */
const CONCURRENCY = 100;

/** Tasks of the untimed check. */
const CHECK_TASKS = 1_000;

/** How long the check waits for a client to start as many tasks as it may. */
const CHECK_PATIENCE_MS = 10_000;

export interface Job {
  readonly measure: 'time' | 'memory';
  readonly client: ClientName;
  /** Tasks to time; for `memory`, requests that wait. */
  readonly tasks: number;
  /** How often the tasks are run, one run after the other. Used by `time` alone. */
  readonly repeat: number;
  readonly warmUp: number;
}

/** Nanoseconds a task (`time`) or bytes a waiting request (`memory`). */
export interface Measured {
  readonly perTask: number;
}

const job: Job = JSON.parse(process.argv[2] ?? '');
if (!isClientName(job.client)) {
  throw new TypeError(`\`client\` must be a known client, got ${job.client}`);
}
// Node would end without a word when a client has lost a task and nothing is left to wait for.
process.once('beforeExit', () => {
  throw new Error('the client went idle before its last task had ended');
});
const client: ClientModule = await clients[job.client].load();
const perTask = job.measure === 'time' ? await time(client, job) : await memory(client, job);
const measured: Measured = { perTask };
// A client may leave a timer behind; the figure is taken, so nothing is left to wait for.
process.stdout.write(`${JSON.stringify(measured)}\n`, () => process.exit(0));

async function time({ run }: ClientModule, { tasks, repeat, warmUp }: Job): Promise<number> {
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

async function memory({ run, fill }: ClientModule, { tasks, warmUp }: Job): Promise<number> {
  if (fill === undefined) {
    throw new TypeError(`\`client\` must know how to wait, got ${job.client}`);
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
  // A queue holds at least its values: eight bytes each.
  if (held === undefined || perRequest < 8) {
    throw new Error(`requests that wait were not kept: ${perRequest} bytes each`);
  }
  return perRequest;
}

/** What is reachable once every pending turn has run: the heap and what buffers hold outside it. */
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

function expectEqual(what: string, got: number, expected: number): void {
  if (got !== expected) {
    throw new Error(`${what}: got ${got}, expected ${expected}`);
  }
}

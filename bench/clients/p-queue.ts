import PQueue from 'p-queue';
import type { RunAll } from './client.ts';

export const run: RunAll = async (task, count, concurrency) => {
  const queue = new PQueue({ concurrency });
  for (let index = 0; index < count; index++) {
    void queue.add(task);
  }
  await queue.onIdle();
};

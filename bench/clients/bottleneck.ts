import Bottleneck from 'bottleneck';
import type { RunAll } from './client.ts';

export const run: RunAll = async (task, count, concurrency) => {
  const limiter = new Bottleneck({ maxConcurrent: concurrency });
  await Promise.all(Array.from({ length: count }, () => limiter.schedule(task)));
};

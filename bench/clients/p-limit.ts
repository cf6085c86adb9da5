import pLimit from 'p-limit';
import type { RunAll } from './client.ts';

export const run: RunAll = async (task, count, concurrency) => {
  const limit = pLimit(concurrency);
  await Promise.all(Array.from({ length: count }, () => limit(task)));
};

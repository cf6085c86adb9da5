import { bulkhead } from 'cockatiel';
import type { RunAll } from './client.ts';

export const run: RunAll = async (task, count, concurrency) => {
  const policy = bulkhead(concurrency, Number.POSITIVE_INFINITY);
  await Promise.all(Array.from({ length: count }, () => policy.execute(task)));
};

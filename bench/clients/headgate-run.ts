import { createLimiter } from 'headgate';
import type { Fill, RunAll } from './client.ts';

export const run: RunAll = async (task, count, concurrency) => {
  const limiter = createLimiter({ concurrency });
  await Promise.all(Array.from({ length: count }, () => limiter.run(task)));
};

/** Off, because an adaptive rate admits only 16 requests at first. */
export const fill: Fill = (task, count, concurrency) => {
  const limiter = createLimiter({ concurrency, adaptive: false });
  const promises = Array.from({ length: count }, () => limiter.run(task));
  return { taken: promises.length, held: { limiter, promises } };
};

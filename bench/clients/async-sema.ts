import { Sema } from 'async-sema';
import type { RunAll } from './client.ts';

export const run: RunAll = async (task, count, concurrency) => {
  const sema = new Sema(concurrency);
  const one = async () => {
    await sema.acquire();
    try {
      await task();
    } finally {
      sema.release();
    }
  };
  await Promise.all(Array.from({ length: count }, one));
};

import { throttle } from 'headgate';
import { range, tap } from 'rxjs';
import type { Fill, RunAll } from './client.ts';

export const run: RunAll = (task, count, concurrency) =>
  new Promise((resolve, reject) => {
    range(0, count)
      .pipe(throttle(task, { concurrency }))
      .subscribe({ complete: resolve, error: reject });
  });

/** Off, because an adaptive rate admits only 16 requests at first. */
export const fill: Fill = (task, count, concurrency) => {
  let taken = 0;
  const countValues = tap(() => {
    taken += 1;
  });
  const held = range(0, count)
    .pipe(countValues, throttle(task, { concurrency, adaptive: false }))
    .subscribe();
  return { taken, held };
};

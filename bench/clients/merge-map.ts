import { mergeMap, range } from 'rxjs';
import type { RunAll } from './client.ts';

export const run: RunAll = (task, count, concurrency) =>
  new Promise((resolve, reject) => {
    range(0, count)
      .pipe(mergeMap(task, concurrency))
      .subscribe({ complete: resolve, error: reject });
  });

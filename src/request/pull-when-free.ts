import { Observable, type ObservableInput, type OperatorFunction, Subject, tap } from 'rxjs';
import { PullIterator, type PullSource } from './pull-iterator.ts';
import type { Project } from './send-options.ts';

/**
 * Sends the requests of a source that is read only as requests are sent: so many of them at the most
 * wait. Results come in the order of the source.
 * @param operatorOf makes the operator that sends requests, with results in order
 * @param most how many may wait, an integer >= 1
 * @param outcomes whether each request has exactly one result, also one that was never sent
 */
export function pullWhenFree<T, O extends ObservableInput<unknown>, R>(
  source: PullSource<T>,
  project: Project<T, O>,
  operatorOf: (project: Project<T, O>) => OperatorFunction<T, R>,
  outcomes: boolean,
  most = 1,
): Observable<R> {
  return new Observable<R>((out) => {
    const feed = new Subject<T>();
    /** The indices of those that have come and were not sent yet. */
    const waiting = new Set<number>();
    const iterator = new PullIterator(source, feed, () => waiting.size < most);
    let arrivals = 0;
    let emitted = 0;
    const leaves = (index: number) => {
      if (waiting.delete(index)) iterator.run();
    };
    const watched: Project<T, O> = (value, context) => {
      try {
        return project(value, context);
      } finally {
        leaves(context.index);
      }
    };
    out.add(() => iterator.close());
    out.add(
      operatorOf(watched)(
        feed.pipe(
          tap(() => {
            waiting.add(arrivals);
            arrivals += 1;
          }),
        ),
      ).subscribe({
        next: (result) => {
          out.next(result);
          if (outcomes) leaves(emitted++);
        },
        error: (error: unknown) => out.error(error),
        complete: () => out.complete(),
      }),
    );
    iterator.run();
  });
}

import { checkNumber } from '../model/check.ts';
import type { Clock } from '../model/clock.ts';

/** What {@link schedulerClock} needs of a scheduler; every RxJS scheduler has it. */
export interface SchedulerLike {
  now(): number;
  schedule(work: () => void, delay?: number): { unsubscribe(): void };
}

/**
 * A clock that reads an RxJS scheduler, so that gates keep virtual time in marble tests.
 *
 * ```ts
 * const testScheduler = new TestScheduler(assertDeepEqual);
 * testScheduler.run(({ cold, expectObservable }) => {
 *   const clock = schedulerClock(testScheduler);
 *   ...
 * });
 * ```
 */
export function schedulerClock(scheduler: SchedulerLike): Clock {
  return {
    now: () => scheduler.now(),
    setTimer(callback, delayMs) {
      checkNumber('delayMs', delayMs, 0);
      const action = scheduler.schedule(() => callback(), delayMs);
      return { cancel: () => action.unsubscribe() };
    },
  };
}

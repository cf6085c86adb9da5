import { checkNumber } from '../util/check.ts';
import type { Clock } from '../util/clock.ts';

/** The parts of a scheduler that {@link schedulerClock} needs; every RxJS scheduler has them. */
export interface SchedulerLike {
  now(): number;
  schedule(work: () => void, delay?: number): { unsubscribe(): void };
  /** The pending actions, if the scheduler lists them, as schedulers in virtual time do. */
  readonly actions?: readonly { readonly closed: boolean }[];
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
 *
 * A timer that keeps no process alive (such as that of `attemptTimeoutMs`) does not fire if only
 * such timers are left: the test has ended then, as a process would have.
 */
export function schedulerClock(scheduler: SchedulerLike): Clock {
  /** Actions of timers that keep no process alive. */
  const idle = new WeakSet<object>();
  const isOver = () => scheduler.actions?.every((action) => action.closed || idle.has(action));
  return {
    now: () => scheduler.now(),
    setTimer(callback, delayMs, keepAlive = true) {
      checkNumber('delayMs', delayMs, 0);
      const action = scheduler.schedule(() => {
        if (keepAlive || isOver() !== true) callback();
      }, delayMs);
      if (!keepAlive) idle.add(action);
      return { cancel: () => action.unsubscribe() };
    },
  };
}

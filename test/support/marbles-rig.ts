import { Observable } from 'rxjs';
import type { Instrumentation } from '../../src/advanced.ts';
import { createLimiter, type LimiterOptions } from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/index.ts';

/** A limiter in virtual time, whose held resources can be checked. */
export function rig(options: LimiterOptions = {}) {
  const clock = new ManualClock();
  const limiter = createLimiter({ concurrency: 2, random: () => 0.5, clock, ...options });
  return {
    clock,
    limiter,
    /** The numbers of held slots and bytes, queued requests and set timers. */
    held() {
      const { concurrency, byteBudget, backoff } = limiter.snapshot();
      return {
        slots: concurrency.inFlight,
        throttledSlots: concurrency.throttledInFlight,
        bytes: byteBudget.used,
        waiting: concurrency.waiting + byteBudget.waiting + backoff.waiting,
        timers: clock.pendingTimers,
      };
    },
  };
}

export const NOTHING = { slots: 0, throttledSlots: 0, bytes: 0, waiting: 0, timers: 0 };

/** Emits after a time, or fails with an error. */
export function answer<R>(clock: ManualClock, ms: number, value: R, error?: unknown) {
  return new Observable<R>((out) => {
    const timer = clock.setTimer(() => {
      if (error === undefined) out.next(value);
      if (error === undefined) out.complete();
      else out.error(error);
    }, ms);
    out.add(() => timer.cancel());
  });
}

/** Counts arrivals and settlements. */
export class Books implements Instrumentation {
  arrivals = 0;
  settlements = 0;

  arrived(): void {
    this.arrivals += 1;
  }

  settled(): void {
    this.settlements += 1;
  }

  get open(): number {
    return this.arrivals - this.settlements;
  }
}

import { Observable, of, type Subscription } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { throttle } from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/manual-clock.ts';

const busy = Object.assign(new Error('busy'), { status: 503 });

describe('a request that would be sent again is over if its stream is unsubscribed', () => {
  it('by `classify`, as it reads the failure', async () => {
    const clock = new ManualClock();
    let attempts = 0;
    const project = () => {
      attempts += 1;
      return Promise.reject(busy);
    };
    const classify = () => {
      subscription.unsubscribe();
      return undefined;
    };
    const subscription: Subscription = of(1)
      .pipe(throttle(project, { clock, classify }))
      .subscribe();
    await clock.advanceAsync(0);
    expect(clock.pendingTimers).toBe(0);
    await clock.advanceAsync(60_000);
    expect(attempts).toBe(1);
  });

  it('by the teardown of its failed attempt', async () => {
    const clock = new ManualClock();
    let attempts = 0;
    const project = () =>
      new Observable<number>((subscriber) => {
        attempts += 1;
        clock.setTimer(() => subscriber.error(busy), 10);
        return () => subscription.unsubscribe();
      });
    const subscription: Subscription = of(1)
      .pipe(throttle(project, { clock, deadlineMs: 60_000 }))
      .subscribe();
    await clock.advanceAsync(10);
    expect(clock.pendingTimers).toBe(0);
    await clock.advanceAsync(60_000);
    expect(attempts).toBe(1);
  });
});

import { delay, filter, map, of, Subject, switchMap } from 'rxjs';
import { describe, expect, test } from 'vitest';
import {
  backoffGate,
  byteBudget,
  type Clock,
  concurrencyLimit,
  dispatch,
  FeedbackSubject,
} from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/index.ts';
import { marbles } from '../../support/marbles.ts';
import { Books } from '../../support/marbles-rig.ts';

describe('tickets on their way', () => {
  const rejectedOnce = (clock: ManualClock) => {
    const feedback = new FeedbackSubject({ clock });
    feedback.next({ kind: 'throttled', retryAfterMs: 1 });
    clock.advance(1);
    return feedback;
  };

  test('are settled on unsubscribe and on error', () => {
    for (const end of ['unsubscribe', 'error'] as const) {
      const clock = new ManualClock();
      const instrumentation = new Books();
      const source = new Subject<number>();
      const subscription = source
        .pipe(
          concurrencyLimit({ concurrency: 2, clock, instrumentation }),
          filter(() => false),
        )
        .subscribe({ error: () => {} });
      for (const value of [1, 2, 3]) source.next(value);
      expect([instrumentation.open, clock.pendingTimers]).toEqual([3, 2]);
      if (end === 'error') source.error(new Error('broken'));
      else subscription.unsubscribe();
      expect([instrumentation.open, clock.pendingTimers]).toEqual([0, 0]);
    }
  });

  test('outlive the completion of their gate', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const results = cold('(a|)').pipe(
        concurrencyLimit({ clock }),
        delay(5),
        byteBudget({ clock }),
        delay(5),
        dispatch((value) => of(value), { clock }),
      );
      expectObservable(results).toBe('----------(a|)');
    });
  });

  test('are reclaimed after the completion of their gate too: a shared gate goes on', () => {
    const clock = new ManualClock();
    const feedback = rejectedOnce(clock);
    const instrumentation = new Books();
    of('dropped')
      .pipe(
        backoffGate({ feedback, instrumentation }),
        filter(() => false),
      )
      .subscribe();
    const seen: string[] = [];
    of('next')
      .pipe(
        backoffGate({ feedback }),
        dispatch((value) => of(value), { feedback }),
      )
      .subscribe((value) => seen.push(value));
    expect(seen).toEqual([]);
    clock.advance(30_000);
    expect(seen).toEqual(['next']);
    expect([instrumentation.open, clock.pendingTimers]).toEqual([0, 0]);
  });

  test('are reclaimed when they are dropped after the completion of their gate', () => {
    const clock = new ManualClock();
    const feedback = rejectedOnce(clock);
    const never = new Subject<void>();
    const subscription = of('a')
      .pipe(
        backoffGate({ feedback }),
        switchMap((ticket) => never.pipe(map(() => ticket))),
        dispatch((value) => of(value), { feedback }),
      )
      .subscribe();
    subscription.unsubscribe();
    const seen: string[] = [];
    of('b')
      .pipe(
        backoffGate({ feedback }),
        dispatch((value) => of(value), { feedback }),
      )
      .subscribe((value) => seen.push(value));
    clock.runAll();
    expect(seen).toEqual(['b']);
    expect(clock.pendingTimers).toBe(0);
  });

  test('keep the process alive if requests of another stream may wait for them', () => {
    const clock = new ManualClock();
    const kept: boolean[] = [];
    const setTimer = clock.setTimer.bind(clock);
    const noting: Clock = clock;
    noting.setTimer = (callback, delayMs, keepAlive = true) => {
      kept.push(keepAlive);
      return setTimer(callback, delayMs);
    };
    const feedback = rejectedOnce(clock);
    const dropped = [backoffGate<string>({ feedback }), filter(() => false)] as const;
    of('probe')
      .pipe(...dropped)
      .subscribe();
    const results: string[] = [];
    of('b')
      .pipe(
        backoffGate({ feedback }),
        dispatch((value: string) => of(value), { feedback }),
      )
      .subscribe((value) => results.push(value));
    expect(results).toEqual([]);
    expect(kept.at(-1)).toBe(true);
    clock.advance(30_000);
    expect(results).toEqual(['b']);
  });
});

import { Observable } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { expect, it } from 'vitest';
import { schedulerClock } from '../../src/simulator/scheduler-clock.ts';

it('keeps the virtual time of marble tests', () => {
  const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
  scheduler.run(({ expectObservable }) => {
    const clock = schedulerClock(scheduler);
    const times = new Observable<number>((subscriber) => {
      const emit = () => subscriber.next(clock.now());
      const gone = clock.setTimer(emit, 2);
      clock.setTimer(emit, 5);
      clock.setTimer(() => {
        emit();
        clock.setTimer(() => subscriber.complete(), 4);
      }, 3);
      gone.cancel();
    });
    expectObservable(times).toBe('---a-b-|', { a: 3, b: 5 });
  });
});

it('refuses a wrong delay by name', () => {
  const scheduler = new TestScheduler(() => undefined);
  const clock = schedulerClock(scheduler);
  expect(() => clock.setTimer(() => undefined, Number.NaN)).toThrow('`delayMs`');
  expect(() => clock.setTimer(() => undefined, -1)).toThrow('got -1');
});

import { map, type OperatorFunction, tap } from 'rxjs';
import { type RunHelpers, TestScheduler } from 'rxjs/testing';
import { expect } from 'vitest';
import type { Clock, Ticket } from '../../src/index.ts';
import { schedulerClock } from '../../src/simulator/index.ts';

/** Runs a marble test: in virtual time, one character a millisecond. */
export function marbles(body: (helpers: RunHelpers, clock: Clock) => void): void {
  const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
  scheduler.run((helpers) => body(helpers, schedulerClock(scheduler)));
}

/** Sends a request that takes `ms`, without dispatch: emits the value when the ticket comes. */
export function sending<T>(ms: number, clock: Clock): OperatorFunction<Ticket<T>, T> {
  return (source) =>
    source.pipe(
      tap((ticket) => clock.setTimer(() => ticket.settle('ok'), ms)),
      map(({ value }) => value),
    );
}

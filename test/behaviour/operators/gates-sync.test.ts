import {
  from,
  type OperatorFunction,
  of,
  range,
  Subject,
  type Subscription,
  take,
  tap,
} from 'rxjs';
import { describe, expect, test } from 'vitest';
import {
  backoffGate,
  byteBudget,
  concurrencyLimit,
  dispatch,
  FeedbackSubject,
  type Ticket,
} from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/index.ts';

/** Each gate, with room for one request at a time (the backoff gate: for all). */
const gates: Record<string, (clock: ManualClock) => OperatorFunction<number, Ticket<number>>> = {
  concurrencyLimit: (clock) => concurrencyLimit({ concurrency: 1, clock }),
  byteBudget: (clock) => byteBudget({ maxBytes: 0, clock }),
  backoffGate: (clock) => backoffGate({ feedback: new FeedbackSubject({ clock }) }),
};

/** Closes the books on each ticket that comes. */
const settle = <T>() => tap<Ticket<T>>((ticket) => ticket.settle('ok'));

describe.each(Object.entries(gates))('%s', (name, gate) => {
  test('takes a synchronous source, in order, and completes', () => {
    const seen: unknown[] = [];
    range(0, 100)
      .pipe(gate(new ManualClock()), settle())
      .subscribe({ next: ({ value }) => seen.push(value), complete: () => seen.push('done') });
    expect(seen).toEqual([...Array(100).keys(), 'done']);
  });

  test('stops an endless source in the turn in which it is unsubscribed', () => {
    const clock = new ManualClock();
    let pulled = 0;
    const endless = function* () {
      for (;;) yield pulled++;
    };
    const seen: number[] = [];
    from(endless())
      .pipe(gate(clock), settle(), take(3))
      .subscribe(({ value }) => seen.push(value));
    expect(seen).toEqual([0, 1, 2]);
    expect(pulled).toBe(3);
    expect(clock.pendingTimers).toBe(0);
  });

  test('keeps nothing when it is unsubscribed inside next, with requests waiting', () => {
    const source = new Subject<number>();
    const clock = new ManualClock();
    const tickets: Ticket<number>[] = [];
    const subscription: Subscription = source.pipe(gate(clock)).subscribe((ticket) => {
      tickets.push(ticket);
      if (ticket.value !== 0) return;
      source.next(1);
      subscription.unsubscribe();
      source.next(2);
    });
    source.next(0);
    expect(tickets.map(({ value }) => value)).toEqual(name === 'backoffGate' ? [0, 1] : [0]);
    expect(tickets.every(({ outcome }) => outcome !== undefined)).toBe(true);
    expect(source.observed).toBe(false);
    expect(clock.pendingTimers).toBe(0);
  });

  test('keeps the order if next calls next', () => {
    const source = new Subject<number>();
    const seen: number[] = [];
    let inFlight = 0;
    source
      .pipe(
        gate(new ManualClock()),
        tap(({ value }) => {
          seen.push(value);
          if (value < 3) source.next(value + 1);
        }),
        tap(() => {
          inFlight += 1;
          expect(inFlight).toBe(1);
          inFlight -= 1;
        }),
        settle(),
      )
      .subscribe();
    source.next(0);
    expect(seen).toEqual([0, 1, 2, 3]);
  });

  test('completes inside next, after all waiting requests', () => {
    const source = new Subject<number>();
    const seen: unknown[] = [];
    source
      .pipe(
        gate(new ManualClock()),
        tap(({ value }) => {
          seen.push(value);
          if (value !== 0) return;
          source.next(1);
          source.next(2);
          source.complete();
        }),
        settle(),
      )
      .subscribe({ complete: () => seen.push('done') });
    source.next(0);
    expect(seen.at(-1)).toBe('done');
    expect(seen.slice(0, -1)).toEqual([0, 1, 2]);
  });

  test('errors inside next, and emits nothing afterwards', () => {
    const clock = new ManualClock();
    const source = new Subject<number>();
    const seen: unknown[] = [];
    const tickets: Ticket<number>[] = [];
    source.pipe(gate(clock)).subscribe({
      next: (ticket) => {
        tickets.push(ticket);
        seen.push(ticket.value);
        source.error('broken');
      },
      error: (error) => seen.push(error),
    });
    source.next(0);
    source.next(1);
    expect(seen).toEqual([0, 'broken']);
    expect(tickets[0]?.outcome).toBe('cancelled');
    expect(clock.pendingTimers).toBe(0);
  });

  test('sets no timer if every ticket is taken at once', () => {
    const clock = new ManualClock();
    let armed = 0;
    const setTimer = clock.setTimer.bind(clock);
    clock.setTimer = (...timer) => {
      armed += 1;
      return setTimer(...timer);
    };
    const seen: number[] = [];
    range(0, 5)
      .pipe(
        gate(clock),
        concurrencyLimit({ concurrency: 2, clock }),
        byteBudget({ clock }),
        dispatch((value) => of(value), { clock }),
      )
      .subscribe((value) => seen.push(value));
    expect(seen).toEqual([0, 1, 2, 3, 4]);
    expect(armed).toBe(0);
  });
});

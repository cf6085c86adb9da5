import {
  delay,
  filter,
  map,
  merge,
  of,
  Subject,
  Subscription,
  share,
  switchMap,
  take,
  tap,
} from 'rxjs';
import { describe, expect, test } from 'vitest';
import {
  byteBudget,
  concurrencyLimit,
  dispatch,
  type Ticket,
  TicketExpiredError,
  TicketInUseError,
} from '../../../src/index.ts';
import { ManualClock } from '../../../src/simulator/index.ts';
import { marbles } from '../../support/marbles.ts';
import { Books } from '../../support/marbles-rig.ts';

describe('an operator between two gates', () => {
  test('that drops a ticket: its lease comes back after 30 s', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const results = cold('(abc|)').pipe(
        concurrencyLimit({ concurrency: 1, clock }),
        filter(({ value }) => value !== 'a'),
        dispatch((value) => of(value), { clock }),
      );
      expectObservable(results).toBe('30s (bc|)');
    });
  });

  test('that drops a ticket: its lease comes back after `reclaimAfterMs`', () => {
    const clock = new ManualClock();
    const instrumentation = new Books();
    const tickets: Ticket<string>[] = [];
    const source = new Subject<string>();
    source
      .pipe(
        concurrencyLimit({ concurrency: 2, reclaimAfterMs: 100, clock, instrumentation }),
        byteBudget({ reclaimAfterMs: 9, clock }),
        tap((ticket) => tickets.push(ticket)),
        filter(() => false),
        dispatch(() => of(1), { clock }),
      )
      .subscribe();
    source.next('a');
    expect(clock.pendingTimers).toBe(1);
    clock.advance(8.9);
    expect(tickets[0]?.outcome).toBeUndefined();
    clock.advance(0.2);
    expect(tickets[0]?.outcome).toBe('reclaimed');
    expect([instrumentation.open, clock.pendingTimers]).toEqual([0, 0]);
  });

  test('that keeps a ticket for a while: it passes, and its timer is disarmed', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const results = cold('a---b|').pipe(
        concurrencyLimit({ concurrency: 1, clock }),
        delay(3),
        dispatch((value) => cold(`---(${value}|)`), { clock }),
      );
      expectObservable(results).toBe('------a-----(b|)');
    });
    const clock = new ManualClock();
    const held = new Subject<void>();
    of('a')
      .pipe(
        concurrencyLimit({ clock }),
        switchMap((ticket) => held.pipe(map(() => ticket))),
        dispatch(() => of(1), { clock }),
      )
      .subscribe();
    held.next();
    expect(clock.pendingTimers).toBe(0);
  });

  test('that keeps a ticket for a while, behind two gates: it is sent undisturbed', () => {
    const clock = new ManualClock();
    const instrumentation = new Books();
    const source = new Subject<string>();
    const answers = new Subject<string>();
    const kept = new Subject<void>();
    const subscription = source
      .pipe(
        concurrencyLimit({ concurrency: 1, clock, instrumentation }),
        byteBudget({ clock, instrumentation }),
        switchMap((ticket) => kept.pipe(map(() => ticket))),
        dispatch(() => answers, { clock, instrumentation }),
      )
      .subscribe();
    source.next('a');
    expect(clock.pendingTimers).toBe(1);
    kept.next();
    // That of the attempt alone.
    expect(clock.pendingTimers).toBe(1);
    clock.advance(60_000);
    expect(instrumentation.open).toBe(1);
    subscription.unsubscribe();
    expect(instrumentation.open).toBe(0);
  });

  test('that keeps a ticket too long: it comes too late', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }, clock) => {
      const source = cold('a');
      const results = source.pipe(
        concurrencyLimit({ clock, reclaimAfterMs: 5 }),
        delay(6),
        dispatch((value) => of(value), { clock }),
      );
      expectObservable(results).toBe('------#', undefined, new TicketExpiredError('reclaimed'));
      expectSubscriptions(source.subscriptions).toBe('^-----!');
    });
  });

  test('that switches: dropped tickets are reclaimed, the last one is sent', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const results = cold('ab-c---------d|').pipe(
        concurrencyLimit({ concurrency: 3, clock, reclaimAfterMs: 8 }),
        switchMap((ticket) => of(ticket).pipe(delay(4))),
        dispatch((value) => cold(`---------(${value}|)`), { clock }),
      );
      // a and b are back at 8 and 9; c is sent at 7.
      expectObservable(results).toBe('----------------c---------(d|)');
    });
  });

  test('that takes some: waiting requests are cancelled, sent ones are settled', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }, clock) => {
      const source = cold('(abc)');
      const results = source.pipe(
        concurrencyLimit({ concurrency: 2, clock }),
        take(1),
        dispatch((value) => cold(`---(${value}|)`), { clock }),
      );
      expectObservable(results).toBe('---(a|)');
      expectSubscriptions(source.subscriptions).toBe('(^!)');
    });
  });

  test('that shares: a ticket cannot be in two places', () => {
    const clock = new ManualClock();
    const instrumentation = new Books();
    const source = new Subject<string>();
    const tickets = source.pipe(
      concurrencyLimit({ concurrency: 2, clock, instrumentation }),
      share(),
    );
    const failures: unknown[] = [];
    const answers = new Subject<string>();
    const first: string[] = [];
    const send = () => tickets.pipe(dispatch(() => answers, { clock, instrumentation }));
    const subscription = new Subscription();
    subscription.add(send().subscribe((value) => first.push(value)));
    subscription.add(send().subscribe({ error: (error) => failures.push(error) }));
    source.next('a');
    expect(failures).toEqual([new TicketInUseError()]);
    answers.next('still sent');
    expect(first).toEqual(['still sent']);
    subscription.unsubscribe();
    expect(clock.pendingTimers).toBe(0);
    expect([instrumentation.open, source.observed]).toEqual([0, false]);
  });

  test('that shares with a pipeline that has ended: the error says how the ticket ended', () => {
    const source = new Subject<string>();
    const shared = source.pipe(concurrencyLimit(), share());
    const seen: unknown[] = [];
    const send = dispatch((value: string) => of(value));
    merge(shared.pipe(send), shared.pipe(send)).subscribe({ error: (error) => seen.push(error) });
    source.next('a');
    expect(seen).toEqual([new TicketExpiredError('ok')]);
  });

  test('that settles a ticket itself: its lease is back at once, and it may go no further', () => {
    const clock = new ManualClock();
    const seen: unknown[] = [];
    of(1, 2, 3)
      .pipe(
        concurrencyLimit({ concurrency: 1, clock }),
        filter((ticket) => ticket.value !== 2 || !ticket.settle('cancelled')),
        dispatch((value) => of(value), { clock }),
      )
      .subscribe({ next: (value) => seen.push(value), complete: () => seen.push('done') });
    expect(seen).toEqual([1, 3, 'done']);
    expect(clock.pendingTimers).toBe(0);
  });
});

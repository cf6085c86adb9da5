import { concat, NEVER, type Observable, of, Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { byteBudget, concurrencyLimit, throttle } from '../../../src/index.ts';
import { marbles, sending } from '../../support/marbles.ts';

describe('a stream of concurrencies', () => {
  test('admits at once when it rises', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }, clock) => {
      const limits = cold<number>('1--3--|', { 1: 1, 3: 3 });
      const results = cold('(abcd)').pipe(
        concurrencyLimit({ concurrency: limits, clock }),
        sending(9, clock),
      );
      expectObservable(results, '11ms !').toBe('a--(bc)--d');
      expectSubscriptions(limits.subscriptions).toBe('^-----!');
    });
  });

  test('lets the holders finish when it falls, and admits no request until fewer are in flight', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const limits = cold<number>('3-1', { 3: 3, 1: 1 });
      const results = cold('(abcde|)').pipe(
        throttle((value) => cold(`-----(${value}|)`), { concurrency: limits, clock }),
      );
      // a, b and c end at 5; one at a time from then on.
      expectObservable(results).toBe('-----(abc)d----(e|)');
    });
  });

  test('stays at its last limit when it completes', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const results = cold('(abc|)').pipe(
        throttle((value) => cold(`--(${value}|)`), { concurrency: of(1), clock }),
      );
      expectObservable(results).toBe('--a-b-(c|)');
    });
  });

  test('may change inside next, up and down', () => {
    const limits = new Subject<number>();
    const seen: number[] = [];
    of(0, 1, 2, 3, 4, 5)
      .pipe(throttle((value) => concat(of(value), NEVER), { concurrency: concat(of(1), limits) }))
      .subscribe((value) => {
        seen.push(value);
        if (value === 2) limits.next(1);
      });
    expect(seen).toEqual([0]);
    limits.next(4);
    expect(seen).toEqual([0, 1, 2]);
    limits.next(5);
    expect(seen).toEqual([0, 1, 2, 3, 4]);
  });

  test('is unsubscribed on complete, error and unsubscribe', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      for (const [source, unsubscribe, end] of [
        ['---|', undefined, '^--!'],
        ['--#', undefined, '^-!'],
        ['-----', '----!', '^---!'],
      ] as const) {
        const limits = cold<number>('1', { 1: 1 });
        const results = cold(source).pipe(concurrencyLimit({ concurrency: limits }));
        expectObservable(results, unsubscribe);
        expectSubscriptions(limits.subscriptions).toBe(end);
      }
    });
  });
});

describe('a stream of byte budgets', () => {
  test('admits at once when it rises, and no request when it falls', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const limits = cold<number>('x-y-z', { x: 0, y: 2, z: 0 });
      const results = cold('(abcde)').pipe(
        byteBudget({ maxBytes: limits, clock }),
        sending(6, clock),
      );
      // One byte each. Up to 2 may be in flight before one more overdraws: a, then b and c.
      // All are back at 8, and d overdraws; e waits for it.
      expectObservable(results, '20ms !').toBe('a-(bc)--d-----e');
    });
  });
});

describe('a wrong limit', () => {
  const wrong = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY];

  function failureOf(
    limits: Observable<number>,
    make: (limits: Observable<number>) => ReturnType<typeof concurrencyLimit<number>>,
  ) {
    let failure: unknown;
    NEVER.pipe(make(limits)).subscribe({ error: (error) => (failure = error) });
    return failure;
  }

  test.each(wrong)('%d errors the stream and names the option', (limit) => {
    const bound = `\`concurrency\` must be an integer >= 1, got ${limit}`;
    const late = new Subject<number>();
    const source = new Subject<number>();
    let failure: unknown;
    source
      .pipe(throttle(() => NEVER, { concurrency: late }))
      .subscribe({ error: (error) => (failure = error) });
    late.next(5);
    source.next(1);
    expect(failure).toBeUndefined();
    late.next(limit);
    expect(failure).toEqual(new RangeError(bound));
    expect([late.observed, source.observed]).toEqual([false, false]);
    expect(failureOf(of(limit), (concurrency) => concurrencyLimit({ concurrency }))).toEqual(
      new RangeError(bound),
    );
  });

  test('errors the stream for bytes too, also if none is emitted', () => {
    const budget = (maxBytes: Observable<number>) => byteBudget<number>({ maxBytes });
    expect(failureOf(of(-1), budget)).toEqual(
      new RangeError('`maxBytes` must be an integer >= 0, got -1'),
    );
    expect(failureOf(of(0), budget)).toBeUndefined();
  });

  test('that is not a number is quoted in the error', () => {
    const limits = of('7' as unknown as number);
    expect(failureOf(limits, (concurrency) => concurrencyLimit({ concurrency }))).toEqual(
      new TypeError('`concurrency` must be an integer >= 1, got "7"'),
    );
  });

  test('errors at once, and the source is not subscribed', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }, clock) => {
      const error = new RangeError('`concurrency` must be an integer >= 1, got 0');
      const source = cold('a');
      for (const operator of [
        concurrencyLimit({ concurrency: of(0), clock }),
        throttle(() => NEVER, { concurrency: of(0), clock }),
      ]) {
        expectObservable(source.pipe(operator)).toBe('#', undefined, error);
      }
      expectSubscriptions(source.subscriptions).toBe([]);
    });
  });
});

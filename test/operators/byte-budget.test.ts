import { map } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { byteBudget, FeedbackSubject, Sized } from '../../src/index.ts';
import { marbles, sending } from '../support/marbles.ts';

/** Digits are sizes in tens of bytes, letters too: a is 100. */
const sized = map((digit: string) => new Sized(digit, Number.parseInt(digit, 36) * 10));

describe('byteBudget', () => {
  test('lets requests pass while the bytes in flight do not exceed the budget', () => {
    marbles(({ cold, expectObservable }, clock) => {
      // 60 fit, 110 overdraw; 4 waits until both 3s are back.
      const source = cold('3354|');
      const results = source.pipe(sized, byteBudget({ maxBytes: 60, clock }), sending(5, clock));
      expectObservable(results).toBe('335---(4|)');
    });
  });

  test('waits while it is overdrawn, with requests of no size too', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }, clock) => {
      const source = cold('    5601|   ');
      const results = source.pipe(sized, byteBudget({ maxBytes: 100, clock }), sending(5, clock));
      expectObservable(results).toBe('56---(01|)');
      expectSubscriptions(source.subscriptions).toBe('^---!');
    });
  });

  test('is not overdrawn by an exact fit', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const results = cold('55a0|').pipe(
        sized,
        byteBudget({ maxBytes: 100, clock }),
        sending(9, clock),
      );
      expectObservable(results).toBe('55a-------(0|)');
    });
  });

  test('lets one larger than the whole budget pass', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const results = cold('zz|').pipe(
        sized,
        byteBudget({ maxBytes: 0, clock }),
        sending(4, clock),
      );
      expectObservable(results).toBe('z---(z|)');
    });
  });

  test('charges more in throttled mode, and gives back what was charged after it', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const feedback = new FeedbackSubject({ clock, throttledForMs: 1 });
      feedback.next({ kind: 'throttled', retryAfterMs: 1 });
      // a: 100 x 3 until 5. At 2 the mode has ended: b must wait for a, and is charged once;
      // were less than 300 given back for a, c would wait for b.
      const results = cold('a-b---c|').pipe(
        sized,
        byteBudget({ maxBytes: 200, throttledByteFactor: 3, feedback }),
        sending(5, clock),
      );
      expectObservable(results).toBe('a----bc|');
    });
  });

  test('takes bare values by their estimate', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const results = cold('abc|').pipe(byteBudget({ maxBytes: 1, clock }), sending(6, clock));
      expectObservable(results).toBe('ab----(c|)');
    });
  });

  test('passes an error on at once', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }, clock) => {
      const source = cold('zz#');
      const results = source.pipe(sized, byteBudget({ maxBytes: 0, clock }), sending(9, clock));
      expectObservable(results).toBe('z-#');
      expectSubscriptions(source.subscriptions).toBe('^-!');
    });
  });

  test('unsubscribes from the source', () => {
    marbles(({ hot, expectObservable, expectSubscriptions }, clock) => {
      const source = hot('-z-z-z');
      const results = source.pipe(sized, byteBudget({ maxBytes: 0, clock }), sending(9, clock));
      expectObservable(results, '----!').toBe('-z---');
      expectSubscriptions(source.subscriptions).toBe('^---!');
    });
  });

  test('refuses wrong options', () => {
    expect(() => byteBudget({ maxBytes: -1 })).toThrow(
      new RangeError('`maxBytes` must be an integer >= 0, got -1'),
    );
    expect(() => byteBudget({ maxBytes: Number.NaN })).toThrow(/`maxBytes`.*NaN/);
    expect(() => byteBudget({ throttledByteFactor: 0.5 })).toThrow(/`throttledByteFactor`.*0.5/);
    // @ts-expect-error
    expect(() => byteBudget({ maxBytes: '1' })).toThrow(TypeError);
    // @ts-expect-error
    expect(() => byteBudget({ bytes: 1 })).toThrow(/bytes/);
  });
});

import { describe, expect, test } from 'vitest';
import { concurrencyLimit, FeedbackSubject, throttle } from '../../src/index.ts';
import { marbles, sending } from '../support/marbles.ts';

describe('concurrencyLimit', () => {
  test('admits as many as the limit, and the others wait for their turn', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }, clock) => {
      const source = cold(' abcdef|');
      const subscribed = ' ^-----!';
      const expected = '   ab--cd--e(f|)';
      const results = source.pipe(concurrencyLimit({ concurrency: 2, clock }), sending(4, clock));
      expectObservable(results).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe(subscribed);
    });
  });

  test('completes at once if no request waits, though some are in flight', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const results = cold('ab|').pipe(
        concurrencyLimit({ concurrency: 2, clock }),
        sending(9, clock),
      );
      expectObservable(results).toBe('ab|');
    });
  });

  test('completes with an empty source', () => {
    marbles(({ cold, expectObservable }, clock) => {
      expectObservable(cold('---|').pipe(concurrencyLimit({ clock }))).toBe('---|');
    });
  });

  test('passes an error on at once, and drops waiting requests', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }, clock) => {
      const source = cold(' abc-#');
      const results = source.pipe(concurrencyLimit({ concurrency: 1, clock }), sending(9, clock));
      expectObservable(results).toBe('a---#');
      expectSubscriptions(source.subscriptions).toBe('^---!');
    });
  });

  test('unsubscribes from the source when it is unsubscribed', () => {
    marbles(({ hot, expectObservable, expectSubscriptions }, clock) => {
      const source = hot('  -a-b-c-d-');
      const unsubscribe = ' ----!     ';
      const results = source.pipe(concurrencyLimit({ concurrency: 9, clock }), sending(1, clock));
      expectObservable(results, unsubscribe).toBe('-a-b-');
      expectSubscriptions(source.subscriptions).toBe('^---!');
    });
  });

  test('has its own slots for each subscription', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const results = cold('(ab|)').pipe(
        concurrencyLimit({ concurrency: 1, clock }),
        sending(3, clock),
      );
      expectObservable(results).toBe('a--(b|)');
      expectObservable(results).toBe('a--(b|)');
    });
  });

  test('gives a throttled slot, one of few, to requests that come in throttled mode', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const feedback = new FeedbackSubject({ clock, throttledForMs: 10 });
      const results = cold('ab-cde|').pipe(
        concurrencyLimit({ concurrency: 5, throttledConcurrency: 1, feedback }),
        sending(6, clock),
      );
      // Throttled from 2 to 17. d waits for the slot of c, and e for that of d, or for the end.
      cold('--x').subscribe(() => feedback.next({ kind: 'throttled', retryAfterMs: 5 }));
      expectObservable(results).toBe('ab-c-----d-----(e|)');
    });
  });

  test('a request that waits for a throttled slot passes as soon as the mode ends', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const feedback = new FeedbackSubject({ clock, throttledForMs: 3 });
      feedback.next({ kind: 'throttled', retryAfterMs: 2 });
      const results = cold('(abc|)').pipe(
        concurrencyLimit({ concurrency: 5, throttledConcurrency: 1, feedback }),
        sending(99, clock),
      );
      expectObservable(results).toBe('a----(bc|)');
    });
  });
});

describe('options of concurrencyLimit', () => {
  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses %d slots', (limit) => {
    for (const make of [concurrencyLimit, (options: object) => throttle(() => [], options)]) {
      const bound = `must be an integer >= 1, got ${limit}`;
      expect(() => make({ concurrency: limit })).toThrow(
        new RangeError(`\`concurrency\` ${bound}`),
      );
      expect(() => make({ throttledConcurrency: limit })).toThrow(
        new RangeError(`\`throttledConcurrency\` ${bound}`),
      );
    }
  });

  test('refuses values that are not numbers, and unknown options', () => {
    // @ts-expect-error
    expect(() => concurrencyLimit({ concurrency: '4' })).toThrow(TypeError);
    // @ts-expect-error
    expect(() => concurrencyLimit({ concurency: 4 })).toThrow(/concurency/);
    expect(() => concurrencyLimit({ reclaimAfterMs: 0 })).toThrow(/reclaimAfterMs.*got 0/);
  });
});

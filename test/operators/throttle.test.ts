import { EMPTY, NEVER, of, Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import {
  concurrencyLimit,
  FeedbackSubject,
  RetryAfterTooLongError,
  Sized,
  throttle,
} from '../../src/index.ts';
import { marbles } from '../support/marbles.ts';

describe('throttle', () => {
  test('keeps to the concurrency', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }, clock) => {
      const inner = cold('  ----(x|)');
      const source = cold(' (abc)-|');
      const results = source.pipe(throttle(() => inner, { concurrency: 2, clock }));
      expectObservable(results).toBe('----(xx)(x|)');
      expectSubscriptions(source.subscriptions).toBe('^-----!');
      expectSubscriptions(inner.subscriptions).toBe(['^---!', '^---!', '----^---!']);
    });
  });

  test('keeps to the byte budget', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const results = cold('(abc|)').pipe(
        throttle((value) => cold(`---(${value}|)`), {
          maxBytes: 10,
          estimate: () => 11,
          clock,
        }),
      );
      expectObservable(results).toBe('---a--b--(c|)');
    });
  });

  test('goes on after a 429 with one instrumentation, then with all', () => {
    marbles(({ cold, expectObservable }, clock) => {
      let calls = 0;
      const project = (value: string) => {
        calls += 1;
        return calls <= 2 ? cold('-#', undefined, { status: 429 }) : cold(`-(${value}|)`);
      };
      const results = cold('(abc)').pipe(
        throttle(project, { concurrency: 2, backoff: { backoffMs: 4 }, clock }),
      );
      // Both are rejected at 1. From 5 on a probes; when it has come through at 6, b and c go.
      expectObservable(results).toBe('------a(bc)');
    });
  });

  test('sends one probe after another until one succeeds', () => {
    marbles(({ cold, expectObservable }, clock) => {
      let calls = 0;
      const project = (value: string) => {
        calls += 1;
        return calls <= 3 ? cold('-#', undefined, { status: 429 }) : cold(`-(${value}|)`);
      };
      const results = cold('(ab|)').pipe(throttle(project, { backoff: { backoffMs: 4 }, clock }));
      // Both are rejected at 1. At 5 a probes, and queues behind b when it is rejected at 6.
      expectObservable(results).toBe('-----------b(a|)');
    });
  });

  test('sends another probe when the probe fails and waits for a retry', () => {
    marbles(({ cold, expectObservable }, clock) => {
      let calls = 0;
      const project = (value: string) => {
        calls += 1;
        if (calls > 3) return cold(`-(${value}|)`);
        return cold('-#', undefined, { status: calls === 3 ? 500 : 429 });
      };
      const options = { backoff: { backoffMs: 4 }, random: () => 0.01, clock };
      const results = cold('(ab|)').pipe(throttle(project, options));
      // a probes at 5 and breaks down at 6: b probes then, and a is sent again at 11.
      expectObservable(results).toBe('-------b----(a|)');
    });
  });

  test('does not retry a request that has emitted', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const error = { status: 429 };
      const results = cold('a').pipe(throttle(() => cold('x-#', undefined, error), { clock }));
      expectObservable(results).toBe('x-#', undefined, error);
    });
  });

  test('errors at once if the provider names a wait beyond the bound', () => {
    const error = { status: 429, headers: { 'retry-after': '1200' } };
    marbles(({ cold, expectObservable }, clock) => {
      const results = cold('a').pipe(throttle(() => cold('-#', undefined, error), { clock }));
      expectObservable(results).toBe(
        '-#',
        undefined,
        new RetryAfterTooLongError(1_200_000, 600_000, error),
      );
    });
  });

  test('emits in the order of the source with `ordered`, and no faster than it may', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const plans: Record<string, string> = { a: '----(a|)', b: '-(b|)', c: '-(c|)' };
      const results = cold('(abc|)').pipe(
        throttle((key) => cold(plans[key] ?? '|'), { concurrency: 2, ordered: true, clock }),
      );
      expectObservable(results).toBe('----(abc|)');
    });
  });

  test('keeps the order with `ordered` where next calls next, and doubles nothing', () => {
    const source = new Subject<number>();
    const first = new Subject<number>();
    const seen: unknown[] = [];
    source
      .pipe(throttle((value) => (value === 0 ? first : of(value, value)), { ordered: true }))
      .subscribe({
        next: (value) => {
          seen.push(value);
          if (seen.length === 1) source.next(2);
          if (seen.length === 2) source.complete();
        },
        complete: () => seen.push('done'),
      });
    source.next(0);
    source.next(1);
    first.next(0);
    first.complete();
    expect(seen).toEqual([0, 1, 1, 2, 2, 'done']);
  });

  test('takes the size that a Sized has', () => {
    const seen: number[] = [];
    of(new Sized('long', 3, 2))
      .pipe(throttle(() => EMPTY, { outcomes: true, estimate: () => 99 }))
      .subscribe(({ stats }) => seen.push(stats.bytes, stats.tokens));
    expect(seen).toEqual([3, 2]);
  });

  test('has the waits by gate in its outcomes', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const results = cold('(ab|)').pipe(
        throttle(() => cold('--|'), { concurrency: 1, outcomes: true, clock }),
      );
      const stats = { attempts: 1, bytes: 1, tokens: 1 };
      const outcome = { status: 'ok', value: undefined };
      const waits = { concurrency: { waitMs: 2, rounds: 1 } };
      expectObservable(results).toBe('--a-(b|)', {
        a: { ...outcome, request: 'a', stats: { ...stats, waits: {}, durationMs: 2 } },
        b: { ...outcome, request: 'b', stats: { ...stats, waits, durationMs: 4 } },
      });
    });
  });

  test('has separate gates for each subscription, but shares a feedback', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const feedback = new FeedbackSubject({ clock, backoffMs: 5 });
      const results = cold('(ab|)').pipe(
        throttle(() => cold('-(x|)'), { concurrency: 1, feedback }),
      );
      expectObservable(results).toBe('-x(x|)');
      expectObservable(results).toBe('-x(x|)');
      expectObservable(
        cold('---a').pipe(
          throttle(() => cold('#', {}, { status: 429 }), { feedback, adaptive: false }),
        ),
        '----!',
      ).toBe('-----');
      // One probes, from 8 on; the other stream goes on when that has come through.
      const late = cold('(ab|)').pipe(throttle(() => cold('-(y|)'), { concurrency: 1, feedback }));
      expectObservable(results, '------^').toBe('---------x(x|)');
      expectObservable(late, '------^').toBe('----------y(y|)');
    });
  });
});

describe('options of throttle', () => {
  test('are checked when the operator is made', () => {
    const wrong: [object, RegExp][] = [
      [{ concurency: 1 }, /concurency/],
      [{ maxBytes: -1 }, /`maxBytes`/],
      [{ maxAttempts: 0 }, /`maxAttempts`/],
      [{ backoff: { backoffMs: 0 } }, /`backoff.backoffMs`/],
      [{ backoff: { reopen: 'some' } }, /`backoff.reopen`.*"some"/],
      [{ feedback: {} }, /`feedback`/],
      [{ feedback: new FeedbackSubject(), backoff: {} }, /`backoff` and `feedback`/],
      [{ outcomes: 1 }, /`outcomes`/],
      [[], /throttle/],
    ];
    for (const [options, message] of wrong) {
      expect(() => throttle(() => EMPTY, options)).toThrow(message);
    }
    // @ts-expect-error
    expect(() => throttle()).toThrow(/`project` must be a function, got undefined/);
    expect(() => throttle(() => NEVER, null as unknown as object)).toThrow(TypeError);
    expect(() => concurrencyLimit(undefined)).not.toThrow();
  });
});

import { EMPTY, NEVER, of, Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import {
  type AttemptContext,
  concurrencyLimit,
  dispatch,
  FeedbackSubject,
  type Ticket,
  TicketInUseError,
} from '../../src/index.ts';
import { marbles } from '../support/marbles.ts';

describe('dispatch', () => {
  test('sends each request at once, and merges the results', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }, clock) => {
      const inner = cold('  x---y---(z|)');
      const source = cold(' a-b|');
      const results = source.pipe(dispatch(() => inner, { clock }));
      expectObservable(results).toBe('x-x-y-y-z-(z|)');
      expectSubscriptions(source.subscriptions).toBe('^--!');
      expectSubscriptions(inner.subscriptions).toBe(['^-------!', '--^-------!']);
    });
  });

  test('completes only when all requests have ended', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const durations: Record<string, string> = { a: '------(a|)', b: '-b|', c: '|' };
      const results = cold('abc|').pipe(dispatch((key) => cold(durations[key] ?? '|'), { clock }));
      expectObservable(results).toBe('--b---(a|)');
      expectObservable(cold('a|').pipe(dispatch(() => NEVER, { clock }))).toBe('--');
      expectObservable(cold('a--|').pipe(dispatch(() => EMPTY, { clock }))).toBe('---|');
    });
  });

  test('errors with the first request that fails, and unsubscribes from the others', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }, clock) => {
      const good = cold('   --g--g');
      const bad = cold('     --#');
      const source = cold('  gb--g');
      const results = source.pipe(dispatch((key) => (key === 'g' ? good : bad), { clock }));
      expectObservable(results).toBe('--g#');
      expectSubscriptions(source.subscriptions).toBe('^--!');
      expectSubscriptions(good.subscriptions).toBe('^--!');
      expectSubscriptions(bad.subscriptions).toBe('-^-!');
    });
  });

  test('passes an error of the source on at once, and unsubscribes from requests in flight', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }, clock) => {
      const inner = cold('---x');
      expectObservable(cold('a-#').pipe(dispatch(() => inner, { clock }))).toBe('--#');
      expectSubscriptions(inner.subscriptions).toBe('^-!');
    });
  });

  test('sends nothing that the subscriber pushes while it gets the error of a ticket', () => {
    const tickets: Ticket<string>[] = [];
    of('a')
      .pipe(concurrencyLimit<string>())
      .subscribe((ticket) => tickets.push(ticket));
    const source = new Subject<Ticket<string> | string>();
    const sent: string[] = [];
    const failures: unknown[] = [];
    const project = (value: string) => {
      sent.push(value);
      return NEVER;
    };
    source.pipe(dispatch(project)).subscribe({
      error: (error) => {
        failures.push(error);
        source.next('b');
      },
    });
    for (const ticket of [...tickets, ...tickets]) source.next(ticket);
    expect(failures).toEqual([new TicketInUseError()]);
    expect(sent).toEqual(['a']);
    expect(source.observed).toBe(false);
  });

  test('unsubscribes from the source and from all requests in flight', () => {
    marbles(({ hot, cold, expectObservable, expectSubscriptions }, clock) => {
      const inner = cold('--x--x');
      const source = hot('-a-b-c');
      expectObservable(source.pipe(dispatch(() => inner, { clock })), '----!').toBe('---x-');
      expectSubscriptions(source.subscriptions).toBe('^---!');
      expectSubscriptions(inner.subscriptions).toBe(['-^--!', '---^!']);
    });
  });

  test('retries a request that got a 429, after the backoff', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }, clock) => {
      const feedback = new FeedbackSubject({ clock, backoffMs: 5 });
      const rejected = cold('-#', undefined, { status: 429 });
      const answered = cold('-(x|)');
      const results = cold('a|').pipe(
        dispatch((_, { attempt }) => (attempt === 1 ? rejected : answered), { feedback }),
      );
      expectObservable(results).toBe('-------(x|)');
      expectSubscriptions(rejected.subscriptions).toBe('^!');
      expectSubscriptions(answered.subscriptions).toBe('------^!');
    });
  });

  test('aborts the signals of requests in flight on unsubscribe, and no others', () => {
    marbles(({ cold, expectObservable, flush }, clock) => {
      const signals: AbortSignal[] = [];
      const results = cold('ab').pipe(
        dispatch(
          (key, { signal }) => {
            signals.push(signal);
            return key === 'a' ? of(1) : NEVER;
          },
          { clock },
        ),
      );
      expectObservable(results, '---!').toBe('x---', { x: 1 });
      flush();
      expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
    });
  });
});

describe('the context of a request', () => {
  test('has its index in the stream, also behind gates, and its attempt', () => {
    const seen: [string, number, number][] = [];
    const project = (value: string, { index, attempt }: AttemptContext) => {
      seen.push([value, index, attempt]);
      return EMPTY;
    };
    const results = of('a', 'b', 'c').pipe(concurrencyLimit({ concurrency: 1 }), dispatch(project));
    results.subscribe();
    results.subscribe();
    const once = [
      ['a', 0, 1],
      ['b', 1, 1],
      ['c', 2, 1],
    ];
    expect(seen).toEqual([...once, ...once]);
  });
});

describe('results of dispatch', () => {
  const plans: Record<string, string> = { a: '---(a|)', b: '-(b|)', c: '--#', d: '|' };

  test('come in the order of the source with `ordered`', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const results = cold('(abd)-b|').pipe(
        dispatch((key) => cold(plans[key] ?? '|'), { clock, ordered: true }),
      );
      expectObservable(results).toBe('---(ab)(b|)');
    });
  });

  test('are outcomes with `outcomes`, one a request, and failures do not end the stream', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const request = dispatch((key: string) => cold(plans[key] ?? '|'), { clock, outcomes: true });
      const stats = (durationMs: number) => ({
        waits: {},
        attempts: 1,
        bytes: 1,
        tokens: 1,
        durationMs,
      });
      expectObservable(cold('(abcd|)').pipe(request)).toBe('dbc(a|)', {
        a: { status: 'ok', value: 'a', request: 'a', stats: stats(3) },
        b: { status: 'ok', value: 'b', request: 'b', stats: stats(1) },
        c: { status: 'failed', error: 'error', request: 'c', stats: stats(2) },
        d: { status: 'ok', value: undefined, request: 'd', stats: stats(0) },
      });
    });
  });

  test('are outcomes in order with both, failures in their place', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const seen: string[] = [];
      const results = cold('(acb|)').pipe(
        dispatch((key) => cold(plans[key] ?? '|'), { clock, outcomes: true, ordered: true }),
      );
      results.subscribe({
        next: ({ request, status }) => seen.push(`${clock.now()} ${request} ${status}`),
        complete: () => expect(seen).toEqual(['3 a ok', '3 c failed', '3 b ok']),
      });
      expectObservable(results.pipe(dispatch(() => EMPTY, { clock }))).toBe('---|');
    });
  });
});

describe('options of dispatch', () => {
  test.each([
    [{ maxAttempts: 0 }, '`maxAttempts` must be an integer >= 1 or Infinity, got 0'],
    [{ maxAttempts: Number.NaN }, '`maxAttempts` must be an integer >= 1 or Infinity, got NaN'],
    [{ deadlineMs: 0 }, '`deadlineMs` must be a number >= 1 or Infinity, got 0'],
    [{ attemptTimeoutMs: 0 }, '`attemptTimeoutMs` must be a number >= 1 or Infinity, got 0'],
    [{ failedAttempts: 0 }, '`failedAttempts` must be an integer >= 1 or Infinity, got 0'],
  ])('%o are refused', (options, message) => {
    expect(() => dispatch(() => EMPTY, options)).toThrow(new RangeError(message));
  });

  test('wrong types are refused', () => {
    // @ts-expect-error
    expect(() => dispatch()).toThrow(/`project` must be a function, got undefined/);
    // @ts-expect-error
    expect(() => dispatch(() => EMPTY, { outcomes: 'yes' })).toThrow(/`outcomes`/);
    // @ts-expect-error
    expect(() => dispatch(() => EMPTY, { ordered: 1 })).toThrow(/`ordered`/);
    // @ts-expect-error
    expect(() => dispatch(() => EMPTY, { classify: {} })).toThrow(/`classify`/);
    // @ts-expect-error
    expect(() => dispatch(() => EMPTY, { concurrency: 1 })).toThrow(/concurrency/);
  });
});

import { config, map, NEVER, Observable, of, Subject, throwError } from 'rxjs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Instrumentation } from '../../../src/advanced.ts';
import {
  byteBudget,
  concurrencyLimit,
  dispatch,
  EstimatorError,
  throttle,
} from '../../../src/index.ts';
import { answer, Books, NOTHING, rig } from '../../support/marbles-rig.ts';

const broken = new Error('broken');
const fail = (): never => {
  throw broken;
};

/** What a stream came to: its values, then how it ended. */
function watch(results: Observable<unknown>): unknown[] {
  const seen: unknown[] = [];
  results.subscribe({
    next: (value) => seen.push(value),
    error: (error) => seen.push({ error }),
    complete: () => seen.push('done'),
  });
  return seen;
}

describe('project', () => {
  test('that throws errors the stream, and the leases of all come back', () => {
    const { limiter, clock, held } = rig();
    const source = new Subject<number>();
    const seen = watch(
      source.pipe(limiter.throttle((value) => (value === 2 ? fail() : answer(clock, 9, value)))),
    );
    for (const value of [0, 1, 2, 3]) source.next(value);
    expect(held()).toMatchObject({ slots: 2, waiting: 2 });
    clock.advance(9);
    expect(seen).toEqual([0, { error: broken }]);
    expect(held()).toEqual(NOTHING);
    expect(source.observed).toBe(false);
  });

  test('that throws an error with status 429 is called again', () => {
    const { limiter, clock, held } = rig();
    const seen = watch(
      of('a').pipe(
        limiter.throttle((value, { attempt }) => {
          if (attempt === 1) throw Object.assign(new Error('slow down'), { status: 429 });
          return [value];
        }),
      ),
    );
    clock.advance(1000);
    expect(seen).toEqual(['a', 'done']);
    expect(held()).toEqual(NOTHING);
  });

  test('that throws gives a failed outcome, and the stream goes on', () => {
    const { limiter, held } = rig();
    const seen = watch(
      of(1, 2).pipe(
        limiter.throttle((value) => (value === 1 ? fail() : [value]), { outcomes: true }),
        map(({ status, request }) => `${request} ${status}`),
      ),
    );
    expect(seen).toEqual(['1 failed', '2 ok', 'done']);
    expect(held()).toEqual(NOTHING);
  });
});

describe('an estimator', () => {
  const estimate = (value: number) => (value === 2 ? fail() : 1);

  test('that throws on arrival errors the stream', () => {
    const { limiter, held } = rig();
    const seen = watch(of(0, 2).pipe(limiter.throttle(() => NEVER, { estimate })));
    expect(seen).toEqual([{ error: new EstimatorError('estimate', broken, 1) }]);
    expect(held()).toEqual(NOTHING);
  });

  test('that throws when a waiter gets its turn errors the stream; the next stream is served', () => {
    const { limiter, clock, held } = rig({ concurrency: 1 });
    const options = { estimate };
    const first = watch(of(0, 3, 2).pipe(limiter.throttle((v) => answer(clock, 5, v), options)));
    const second = watch(of(7).pipe(limiter.throttle((v) => answer(clock, 5, v))));
    expect(held()).toMatchObject({ slots: 1, waiting: 3 });
    clock.runAll();
    expect(first).toEqual([0, { error: new EstimatorError('estimate', broken, 2) }]);
    expect(second).toEqual([7, 'done']);
    expect(held()).toEqual(NOTHING);
  });
});

describe('an instrumentation', () => {
  afterEach(() => vi.restoreAllMocks());

  test.each([
    'arrived',
    'queued',
    'admitted',
    'attemptStarted',
    'attemptEnded',
    'backoff',
    'settled',
  ] satisfies (keyof Instrumentation)[])(
    'that throws in `%s` causes one warning, and affects no request',
    (method) => {
      const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
      const { limiter, clock, held } = rig({
        adaptive: false,
        concurrency: 1,
        instrumentation: { [method]: fail },
      });
      let calls = 0;
      const project = (value: number) => {
        calls += 1;
        return answer(clock, 1, value, calls === 1 ? { status: 429 } : undefined);
      };
      const seen = watch(of(1, 2, 3).pipe(limiter.throttle(project)));
      clock.runAll();
      expect(seen).toEqual([1, 2, 3, 'done']);
      expect(held()).toEqual(NOTHING);
      expect(warned).toHaveBeenCalledOnce();
      expect(warned.mock.lastCall?.[0]).toContain(method);
    },
  );
});

describe('classify', () => {
  test('that throws errors the stream with what it threw', () => {
    const { limiter, held } = rig({ classify: fail });
    const seen = watch(of(1, 2, 3).pipe(limiter.throttle(() => throwError(() => 'down'))));
    expect(seen).toEqual([{ error: broken }]);
    expect(held()).toEqual(NOTHING);
  });

  test('that throws later errors the stream too', () => {
    const { limiter, clock, held } = rig({ classify: fail });
    const seen = watch(of(1, 2, 3).pipe(limiter.throttle((v) => answer(clock, 1, v, 'down'))));
    clock.advance(1);
    expect(seen).toEqual([{ error: broken }]);
    expect(held()).toEqual(NOTHING);
  });
});

describe('a stream of limits', () => {
  test.each([
    ['concurrencyLimit', (limits: Observable<number>) => concurrencyLimit({ concurrency: limits })],
    ['byteBudget', (limits: Observable<number>) => byteBudget({ maxBytes: limits })],
    ['throttle', (limits: Observable<number>) => throttle(() => NEVER, { concurrency: limits })],
  ])('that fails errors the stream (%s)', (_name, operator) => {
    const limits = new Subject<number>();
    const source = new Subject<number>();
    const seen = watch(source.pipe(operator(limits)));
    limits.error(broken);
    expect(seen).toEqual([{ error: broken }]);
    expect(source.observed).toBe(false);
  });
});

describe('downstream', () => {
  afterEach(() => {
    config.onUnhandledError = null;
  });

  test('an operator that throws ends the stream, and nothing is held', () => {
    const { limiter, clock, held } = rig();
    const results = of(1, 2, 3).pipe(
      limiter.throttle((v) => answer(clock, 1, v)),
      map(fail),
    );
    const seen = watch(results);
    clock.advance(1);
    expect(seen).toEqual([{ error: broken }]);
    expect(held()).toEqual(NOTHING);
  });

  test('an observer that throws is reported as RxJS does it, and the stream goes on', async () => {
    const reported: unknown[] = [];
    config.onUnhandledError = (error) => reported.push(error);
    const { limiter, clock, held } = rig();
    of(1, 2, 3)
      .pipe(limiter.throttle((v) => answer(clock, 1, v)))
      .subscribe(fail);
    clock.runAll();
    expect(held()).toEqual(NOTHING);
    await expect.poll(() => reported).toEqual([broken, broken, broken]);
  });

  test('a teardown that throws leaks no lease', () => {
    const books = new Books();
    const clock = rig().clock;
    const results = of(1, 2, 3).pipe(
      concurrencyLimit({ concurrency: 3, clock, instrumentation: books }),
      dispatch(() => new Observable(() => fail), { clock, instrumentation: books }),
    );
    const subscription = results.subscribe();
    expect(books.open).toBe(3);
    expect(() => subscription.unsubscribe()).toThrow();
    expect(books.open).toBe(0);
  });
});

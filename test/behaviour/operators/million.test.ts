import { type ObservableInput, type OperatorFunction, of, range, Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import {
  byteBudget,
  concurrencyLimit,
  dispatch,
  type Project,
  throttle,
} from '../../../src/index.ts';
import { isLong } from '../../support/runs.ts';

const MILLION = 1_000_000;
/** What overflows a stack, or takes quadratic time, does so with fewer. */
const VERY_MANY = isLong ? MILLION : 20_000;

type Send = Project<number, ObservableInput<number>>;

const variants: [string, (send: Send, concurrency: number) => OperatorFunction<number, unknown>][] =
  [
    ['alone', (send, concurrency) => throttle(send, { concurrency })],
    ['with a probe', (send, concurrency) => throttle(send, { concurrency, instrumentation: {} })],
    ['ordered', (send, concurrency) => throttle(send, { concurrency, ordered: true })],
    ['as outcomes', (send, concurrency) => throttle(send, { concurrency, outcomes: true })],
    [
      'through gates as operators',
      (send, concurrency) => (source) =>
        source.pipe(concurrencyLimit({ concurrency }), byteBudget(), dispatch(send)),
    ],
  ];

/** Counts, and sees that they come in order. */
function counter() {
  let count = 0;
  let ordered = true;
  return {
    add(value: unknown) {
      const index =
        typeof value === 'object' && value !== null && 'request' in value ? value.request : value;
      ordered &&= index === count;
      count += 1;
    },
    get result() {
      return { count, ordered };
    },
  };
}

describe.each(variants)('a synchronous source of very many values, %s', (how, way) => {
  const many = VERY_MANY;

  test('into inners that complete at once', () => {
    const many = how === 'alone' ? MILLION : VERY_MANY;
    const results = counter();
    range(0, many)
      .pipe(way((value) => of(value), 2))
      .subscribe(results.add);
    expect(results.result).toEqual({ count: many, ordered: true });
  });

  test('all waiting for one, then completing at once, one after the other', () => {
    const results = counter();
    const held = new Subject<number>();
    range(0, many)
      .pipe(way((value) => (value === 0 ? held : of(value)), 1))
      .subscribe(results.add);
    expect(results.result.count).toBe(0);
    held.next(0);
    held.complete();
    expect(results.result).toEqual({ count: many, ordered: true });
  });

  test('into promises', async () => {
    const results = counter();
    await new Promise<void>((complete) => {
      range(0, many)
        .pipe(way(async (value) => value, 2))
        .subscribe({ next: results.add, complete });
    });
    expect(results.result).toEqual({ count: many, ordered: true });
  });
});

test('next that calls next a hundred thousand times does not grow the stack while requests wait', () => {
  const source = new Subject<number>();
  const held = new Subject<number>();
  const results = counter();
  source
    .pipe(throttle((value) => (value === 0 ? held : of(value)), { concurrency: 1 }))
    .subscribe((value) => {
      results.add(value);
      if (value < 100_000) source.next(value + 1);
    });
  source.next(0);
  held.next(0);
  held.complete();
  expect(results.result).toEqual({ count: 100_001, ordered: true });
});

test('time grows with the number of values, not with its square', () => {
  // Of the CPU: a machine that is busy with others does not change it.
  const timeOf = (count: number) => {
    const held = new Subject<number>();
    const start = process.cpuUsage();
    range(0, count)
      .pipe(throttle((value) => (value === 0 ? held : of(value)), { concurrency: 1 }))
      .subscribe();
    held.complete();
    return process.cpuUsage(start).user;
  };
  timeOf(10_000);
  // Linear: 10 times. Quadratic: 100 times.
  expect(timeOf(300_000) / timeOf(30_000)).toBeLessThan(40);
});

import { mergeMap, Observable, type OperatorFunction, Subject, Subscriber } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { concurrencyLimit, dispatch } from '../../../src/index.ts';
import { answer, Books, NOTHING, rig } from '../../support/marbles-rig.ts';

const broken = new Error('broken');

/** A Subscriber of a class of its own, as operators of other libraries have it, that may throw. */
class Throwing<T> extends Subscriber<T> {
  protected override _next(): void {
    throw broken;
  }
}

/** An operator with that Subscriber. */
const throwing = <T>(source: Observable<T>) =>
  new Observable<T>((out) => source.subscribe(new Throwing<T>(out)));

/** What becomes of a stream of three values whose first result meets the Subscriber. */
function play(operator: OperatorFunction<number, unknown>, advance: () => void) {
  const source = new Subject<number>();
  const errors: unknown[] = [];
  throwing(source.pipe(operator)).subscribe({ error: (error) => errors.push(error) });
  for (const value of [1, 2, 3]) source.next(value);
  advance();
  return { errors, observed: source.observed };
}

const ENDED = { errors: [broken], observed: false };

describe('a Subscriber downstream whose `_next` throws ends the stream with what it throws', () => {
  test('after mergeMap', () => {
    const { clock } = rig();
    const operator = mergeMap((v: number) => answer(clock, 1, v), 2);
    expect(play(operator, () => clock.runAll())).toEqual(ENDED);
  });

  test.each([
    { outcomes: false },
    { outcomes: true },
    { ordered: true },
    { outcomes: true, ordered: true },
  ])('after throttle, %o', (options) => {
    const { limiter, clock, held } = rig();
    const operator = limiter.throttle((v: number) => answer(clock, 1, v), options);
    expect(play(operator, () => clock.runAll())).toEqual(ENDED);
    expect(held()).toEqual(NOTHING);
  });

  test('after throttle of promises', async () => {
    const { limiter, held } = rig();
    const { errors } = play(
      limiter.throttle(async (v: number) => v),
      () => {},
    );
    await expect.poll(() => errors).toEqual([broken]);
    expect(held()).toEqual(NOTHING);
  });

  test.each([{ outcomes: false }, { outcomes: true }])('after throttleFrom, %o', (options) => {
    const { limiter, clock, held } = rig();
    const results = limiter.throttleFrom([1, 2, 3], (v) => answer(clock, 1, v), options);
    const errors: unknown[] = [];
    throwing<unknown>(results).subscribe({ error: (error) => errors.push(error) });
    clock.runAll();
    expect(errors).toEqual([broken]);
    expect(held()).toEqual(NOTHING);
  });

  test('between two gates', () => {
    const { clock } = rig();
    const books = new Books();
    const operator = (source: Observable<number>) =>
      throwing(
        source.pipe(concurrencyLimit({ concurrency: 2, clock, instrumentation: books })),
      ).pipe(dispatch((v: number) => answer(clock, 1, v), { clock, instrumentation: books }));
    const source = new Subject<number>();
    const errors: unknown[] = [];
    operator(source).subscribe({ error: (error) => errors.push(error) });
    source.next(1);
    expect(errors).toEqual([broken]);
    expect(books.open).toBe(0);
    expect(source.observed).toBe(false);
  });
});

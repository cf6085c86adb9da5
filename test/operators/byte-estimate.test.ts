import { map, of } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { byteEstimate, EstimatorError, Sized, throttle } from '../../src/index.ts';
import { marbles } from '../support/marbles.ts';

function sizesOf(values: readonly unknown[], ...estimator: Parameters<typeof byteEstimate>) {
  const sizes: [number, number][] = [];
  of(...values)
    .pipe(byteEstimate(...estimator))
    .subscribe(({ bytes, tokens }) => sizes.push([bytes, tokens]));
  return sizes;
}

describe('byteEstimate', () => {
  test('gives each value its size, in the turn in which it comes', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const values = { a: 'a', b: 'bb', c: 'é' };
      const source = cold<string>('a-(bc)-|', values);
      const sized = source.pipe(
        byteEstimate(),
        map(({ value, bytes }) => `${value} ${bytes}`),
      );
      expectObservable(sized).toBe('a-(bc)-|', { a: 'a 1', b: 'bb 2', c: 'é 2' });
      expectSubscriptions(source.subscriptions).toBe('^------!');
    });
  });

  test('passes errors on', () => {
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('--#').pipe(byteEstimate())).toBe('--#');
    });
  });

  test('unsubscribes from the source', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('----a');
      expectObservable(source.pipe(byteEstimate()), '--!').toBe('---');
      expectSubscriptions(source.subscriptions).toBe('^-!');
    });
  });

  test('emits a Sized with the value itself', () => {
    const value = { messages: [] };
    const seen: unknown[] = [];
    of(value)
      .pipe(byteEstimate())
      .subscribe((sized) => seen.push(sized instanceof Sized, sized.value === value));
    expect(seen).toEqual([true, true]);
  });

  test('takes bytes and tokens from an estimator, rounded up', () => {
    expect(sizesOf(['x'], () => 7.2)[0]?.[0]).toBe(8);
    expect(sizesOf(['x'], () => ({ bytes: 7, tokens: 5.5 }))).toEqual([[7, 6]]);
    expect(sizesOf(['x'], () => 0)).toMatchObject([[0, expect.any(Number)]]);
  });
});

describe('an estimator that fails', () => {
  test.each([
    ['a negative size', () => -1, /`\w+`.*-1/],
    ['NaN', () => Number.NaN, /NaN/],
    ['an infinite size', () => Number.POSITIVE_INFINITY, /Infinity/],
    ['a size that is no number', () => '12' as unknown as number, /"12"/],
    ['nothing', () => undefined as unknown as number, /undefined/],
    ['null', () => null as unknown as number, /null/],
    ['negative tokens', () => ({ bytes: 1, tokens: -2 }), /`tokens`.*-2/],
    ['an empty object', () => ({}) as { bytes: number }, /`bytes`.*undefined/],
  ])('errors the stream if it returns %s', (_what, estimate, message) => {
    let failure: unknown;
    of('x')
      .pipe(byteEstimate(estimate))
      .subscribe({ error: (error) => (failure = error) });
    expect(failure).toBeInstanceOf(EstimatorError);
    expect(failure).toMatchObject({ message: expect.stringMatching(message) });
  });

  test('is named in the error, which has the cause', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const cause = new Error('no size');
      const bytesOfPrompt = (prompt: string) => {
        if (prompt === 'b') throw cause;
        return 1;
      };
      const source = cold('a-b-c|');
      const results = source.pipe(
        byteEstimate(bytesOfPrompt),
        map(({ value }) => value),
      );
      expectObservable(results).toBe('a-#', undefined, new EstimatorError('bytesOfPrompt', cause));
      expectSubscriptions(source.subscriptions).toBe('^-!');
    });
  });

  test('is refused at once if it is not a function', () => {
    for (const wrong of [5, null, 'length', {}]) {
      // @ts-expect-error
      expect(() => byteEstimate(wrong)).toThrow(/`estimate` must be a function/);
      // @ts-expect-error
      expect(() => throttle(() => [], { estimate: wrong })).toThrow(/`estimate` must be/);
    }
  });
});

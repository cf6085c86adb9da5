import { map, NEVER, of, Subject, take } from 'rxjs';
import { describe, expect, test } from 'vitest';
import {
  type Chunk,
  type ChunkOptions,
  chunkBy,
  concurrencyLimit,
  Sized,
} from '../../src/index.ts';
import { ManualClock } from '../../src/simulator/index.ts';
import { marbles } from '../support/marbles.ts';

/** Each digit has as many bytes as it says, and one token. */
const sized = map((digit: string) => new Sized(digit, Number(digit), 1));
const shown = map(({ value, reason }: Chunk<string>) => `${value.join('')} ${reason}`);

describe('chunkBy in time', () => {
  test('closes a chunk when it is full by number', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }, clock) => {
      const source = cold('11--1-1--1|');
      const results = source.pipe(sized, chunkBy({ maxItems: 2, clock }), shown);
      const values = { a: '11 items', b: '1 complete' };
      expectObservable(results).toBe('-a----a---(b|)', values);
      expectSubscriptions(source.subscriptions).toBe('^---------!');
    });
  });

  test('closes a chunk by bytes when an item no longer fits', () => {
    marbles(({ cold, expectObservable }) => {
      const results = cold('1-4-1-|').pipe(sized, chunkBy({ maxBytes: 4 }), shown);
      expectObservable(results).toBe('--a-b-(c|)', {
        a: '1 bytes',
        b: '4 bytes',
        c: '1 complete',
      });
    });
  });

  test('closes a chunk when it has been open for long enough, counted from its first item', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const results = cold('1-1----1------|').pipe(sized, chunkBy({ maxDelayMs: 4, clock }), shown);
      expectObservable(results).toBe('----a------b--|', { a: '11 delay', b: '1 delay' });
    });
  });

  test('starts the delay anew for the item that overflowed the chunk before', () => {
    marbles(({ cold, expectObservable }, clock) => {
      const options = { maxBytes: 5, maxDelayMs: 4, clock };
      const results = cold('3--3-------|').pipe(sized, chunkBy(options), shown);
      expectObservable(results).toBe('---a---b---|', { a: '3 bytes', b: '3 delay' });
    });
  });

  test('flushes what is open when the source completes', () => {
    marbles(({ cold, expectObservable }) => {
      const results = cold('1-1-|').pipe(sized, chunkBy(), shown);
      expectObservable(results).toBe('----(a|)', { a: '11 complete' });
    });
  });

  test('drops what is open when the source fails', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }, clock) => {
      const source = cold('1-1-#');
      expectObservable(source.pipe(sized, chunkBy({ maxDelayMs: 9, clock }), shown)).toBe('----#');
      expectSubscriptions(source.subscriptions).toBe('^---!');
    });
  });

  test('emits no empty chunk for an empty source', () => {
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold('--|').pipe(sized, chunkBy())).toBe('--|');
    });
  });

  test('unsubscribes from the source, and emits nothing then', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }, clock) => {
      const source = cold('1-1-1-');
      const results = source.pipe(sized, chunkBy({ maxDelayMs: 4, clock }), shown);
      expectObservable(results, '---!').toBe('----');
      expectSubscriptions(source.subscriptions).toBe('^--!');
    });
  });
});

describe('the timer of chunkBy', () => {
  const one = new Sized('1', 1);

  test.each([
    ['completes', (source: Subject<Sized<string>>) => source.complete()],
    ['fails', (source: Subject<Sized<string>>) => source.error(new Error('broken'))],
  ])('is disarmed when the source %s', (_how, end) => {
    const clock = new ManualClock();
    const source = new Subject<Sized<string>>();
    source.pipe(chunkBy({ maxDelayMs: 5, clock })).subscribe({ error: () => {} });
    source.next(one);
    expect(clock.pendingTimers).toBe(1);
    end(source);
    expect(clock.pendingTimers).toBe(0);
  });

  test('is disarmed by unsubscribe, inside next too', () => {
    const clock = new ManualClock();
    const source = new Subject<Sized<string>>();
    source.pipe(chunkBy({ maxBytes: 1, maxDelayMs: 5, clock }), take(1)).subscribe();
    source.next(one);
    source.next(one);
    expect(source.observed).toBe(false);
    expect(clock.pendingTimers).toBe(0);
  });

  test('is not armed while no chunk is open', () => {
    const clock = new ManualClock();
    const source = new Subject<Sized<string>>();
    source.pipe(chunkBy({ maxItems: 1, maxDelayMs: 5, clock })).subscribe();
    source.next(one);
    expect(clock.pendingTimers).toBe(0);
  });

  test('is not armed without maxDelayMs', () => {
    const clock = new ManualClock();
    NEVER.pipe(chunkBy({ clock })).subscribe();
    of(one).pipe(chunkBy({ clock })).subscribe();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('what chunkBy refuses', () => {
  test.each([
    [{ maxItems: 0 }, '`maxItems` must be an integer >= 1, got 0'],
    [{ maxItems: 1.5 }, '`maxItems` must be an integer >= 1, got 1.5'],
    [{ maxItems: Number.NaN }, '`maxItems` must be an integer >= 1, got NaN'],
    [{ maxBytes: 0 }, '`maxBytes` must be an integer >= 1, got 0'],
    [{ maxDelayMs: -1 }, '`maxDelayMs` must be a finite number >= 0, got -1'],
    [
      { maxDelayMs: Number.POSITIVE_INFINITY },
      '`maxDelayMs` must be a finite number >= 0, got Infinity',
    ],
  ])('%o', (options: ChunkOptions, message) => {
    expect(() => chunkBy(options)).toThrow(new RangeError(message));
  });

  test('what byteEstimate has not sized, and tickets', () => {
    const failures: unknown[] = [];
    const note = (error: unknown) => failures.push(error);
    // @ts-expect-error a string has no size
    of('bare').pipe(chunkBy()).subscribe({ error: note });
    // @ts-expect-error chunking after a gate does not compile
    of('a').pipe(concurrencyLimit(), chunkBy()).subscribe({ error: note });
    const error = new TypeError('chunkBy takes what byteEstimate emits, before the first gate');
    expect(failures).toEqual([error, error]);
  });
});

import fc from 'fast-check';
import { from, Subject, take } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { Chunk, type ChunkOptions, chunkBy, Sized } from '../../../src/index.ts';
import { holds } from '../../support/holds.ts';
import { runs } from '../../support/runs.ts';

const sized = (sizes: readonly number[]) => sizes.map((bytes, at) => new Sized(at, bytes, 1));

function chunksOf(items: readonly Sized<number>[], options?: ChunkOptions): Chunk<number>[] {
  const chunks: Chunk<number>[] = [];
  from(items)
    .pipe(chunkBy(options))
    .subscribe((chunk) => chunks.push(chunk));
  return chunks;
}

const lengths = (sizes: readonly number[], options?: ChunkOptions) =>
  chunksOf(sized(sizes), options).map(({ value, reason }) => `${value.length} ${reason}`);

describe('chunks of at most 1024 items and 5,000,000 bytes', () => {
  test.each([
    ['nothing', [], []],
    ['one item', [10], ['1 complete']],
    ['1024 items', Array(1024).fill(1), ['1024 items']],
    ['1025 items', Array(1025).fill(1), ['1024 items', '1 complete']],
    ['2048 items', Array(2048).fill(1), ['1024 items', '1024 items']],
    ['an exact fit', [2_500_000, 2_500_000], ['2 complete']],
    ['one byte too many', [2_500_000, 2_500_001], ['1 bytes', '1 complete']],
    ['an exact fit and one more', [2_500_000, 2_500_000, 1], ['2 bytes', '1 complete']],
    ['an exact fit and one of no size', [5_000_000, 0], ['2 complete']],
    ['an oversize item', [5_000_001], ['1 bytes']],
    ['an oversize item among others', [1, 5_000_001, 1], ['1 bytes', '1 bytes', '1 complete']],
    ['oversize items alone', [6_000_000, 7_000_000], ['1 bytes', '1 bytes']],
    ['an oversize item and one of no size', [6_000_000, 0], ['1 bytes', '1 complete']],
    ['items of no size', [0, 0, 0], ['3 complete']],
  ])('%s', (_what, sizes: number[], expected) => {
    expect(lengths(sizes)).toEqual(expected);
  });

  test('full by number and by bytes with one item counts as by number', () => {
    expect(lengths([1, 4, 1], { maxItems: 2, maxBytes: 5 })).toEqual(['2 items', '1 complete']);
  });

  test('chunks of one item', () => {
    expect(lengths([1, 9, 0], { maxItems: 1, maxBytes: 5 })).toEqual([
      '1 items',
      '1 items',
      '1 items',
    ]);
  });
});

test('chunks of any data lose and double nothing, keep the order, and are full and never empty', () => {
  const script = fc.record({
    sizes: fc.array(fc.nat({ max: 12 }), { maxLength: 40 }),
    maxItems: fc.integer({ min: 1, max: 5 }),
    maxBytes: fc.integer({ min: 1, max: 10 }),
  });
  fc.assert(
    fc.property(script, ({ sizes, maxItems, maxBytes }) => {
      const chunks = chunksOf(sized(sizes), { maxItems, maxBytes });
      expect(chunks.flatMap(({ value }) => value)).toEqual(sizes.map((_, at) => at));
      for (const [at, chunk] of chunks.entries()) {
        const { value, bytes, tokens, reason } = chunk;
        holds(chunk instanceof Chunk, chunk);
        holds(value.length > 0 && value.length <= maxItems, chunk, maxItems);
        holds(value.length === 1 || bytes <= maxBytes, chunk, maxBytes);
        holds(bytes === value.reduce((sum, item) => sum + (sizes[item] ?? 0), 0), chunk);
        holds(tokens === value.length, chunk);
        const next = sizes[(value.at(-1) ?? 0) + 1];
        if (reason === 'items') holds(value.length === maxItems, chunk, maxItems);
        else if (reason === 'bytes') holds(bytes + (next ?? 0) > maxBytes, chunk, maxBytes);
        else holds(reason === 'complete' && at === chunks.length - 1, reason, at);
      }
    }),
    { numRuns: runs(300) },
  );
});

describe('a source that is synchronous or re-entrant', () => {
  test('that is endless stops as soon as it is unsubscribed', () => {
    let pulled = 0;
    const items = function* () {
      for (;;) {
        pulled += 1;
        yield new Sized(pulled, 1);
      }
    };
    const seen: number[][] = [];
    from(items())
      .pipe(chunkBy({ maxItems: 3 }), take(2))
      .subscribe(({ value }) => seen.push(value));
    expect(seen).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    expect(pulled).toBe(6);
  });

  test('stops inside the turn when the chunk that overflows is the last one wanted', () => {
    const seen: number[][] = [];
    from(sized([3, 9, 9, 9]))
      .pipe(chunkBy({ maxBytes: 5 }), take(1))
      .subscribe(({ value }) => seen.push(value));
    expect(seen).toEqual([[0]]);
  });

  test('items that arrive while a chunk is emitted go into the next one, in order', () => {
    const source = new Subject<Sized<number>>();
    const seen: number[][] = [];
    source.pipe(chunkBy({ maxItems: 2 })).subscribe(({ value }) => {
      seen.push(value);
      if (seen.length === 1) for (const item of sized([1, 1, 1])) source.next(item);
    });
    source.next(new Sized(10, 1));
    source.next(new Sized(11, 1));
    source.complete();
    expect(seen).toEqual([[10, 11], [0, 1], [2]]);
  });

  test('items that arrive while an overflowing chunk is emitted keep their place', () => {
    const source = new Subject<Sized<number>>();
    const seen: number[][] = [];
    source.pipe(chunkBy({ maxBytes: 5 })).subscribe(({ value }) => {
      seen.push(value);
      if (seen.length === 1) source.next(new Sized(3, 1));
    });
    for (const [at, bytes] of [3, 3].entries()) source.next(new Sized(at + 1, bytes));
    source.complete();
    expect(seen).toEqual([[1], [2, 3]]);
  });

  test('an emitted chunk is not changed by later items', () => {
    const chunks = chunksOf(sized([1, 1, 1]), { maxItems: 1 });
    expect(chunks.map(({ value }) => value)).toEqual([[0], [1], [2]]);
  });

  test('a hundred thousand items do not grow the stack', () => {
    let count = 0;
    from(sized(Array(100_000).fill(1)))
      .pipe(chunkBy({ maxItems: 1 }))
      .subscribe(() => {
        count += 1;
      });
    expect(count).toBe(100_000);
  });
});

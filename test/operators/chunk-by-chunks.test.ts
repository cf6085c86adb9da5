import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Chunk, Sized } from '../../src/model/sized.ts';
import { Chunker } from '../../src/operators/chunk-by.ts';
import { holds } from '../support/holds.ts';
import { runs } from '../support/runs.ts';

/** Chunks items of these sizes, as chunkBy does. */
function chunksOf(maxItems: number, maxBytes: number, sizes: readonly number[]): Chunk<number>[] {
  const chunker = new Chunker<number>(maxItems, maxBytes);
  const chunks: (Chunk<number> | undefined)[] = [];
  sizes.forEach((bytes, index) => {
    chunks.push(chunker.add(new Sized(index, bytes, 1)));
    chunks.push(chunker.full());
  });
  chunks.push(chunker.close('complete'));
  expect(chunker.empty).toBe(true);
  return chunks.filter((chunk) => chunk !== undefined);
}

describe('Chunker', () => {
  it.each([
    { name: 'an exact fit stays in', sizes: [60, 40], sums: [100], reasons: ['complete'] },
    {
      name: 'one byte more does not',
      sizes: [60, 41],
      sums: [60, 41],
      reasons: ['bytes', 'complete'],
    },
    {
      name: 'items of no size join an exact fit',
      sizes: [100, 0],
      sums: [100],
      reasons: ['complete'],
    },
    { name: 'the number closes at once', sizes: [1, 1, 1], sums: [3], reasons: ['items'] },
    {
      name: 'one item over the cap is a chunk alone, at once',
      sizes: [10, 101, 10],
      sums: [10, 101, 10],
      reasons: ['bytes', 'bytes', 'complete'],
    },
    { name: 'an item over the cap comes first', sizes: [101], sums: [101], reasons: ['bytes'] },
    { name: 'nothing makes no chunk', sizes: [], sums: [], reasons: [] },
  ])('of 3 items and 100 bytes: $name', ({ sizes, sums, reasons }) => {
    const chunks = chunksOf(3, 100, sizes);
    expect(chunks.map((chunk) => chunk.bytes)).toEqual(sums);
    expect(chunks.map((chunk) => chunk.reason)).toEqual(reasons);
  });

  it('closes an open chunk by time once', () => {
    const chunker = new Chunker<string>(3, 100);
    expect(chunker.close('delay')).toBeUndefined();
    chunker.add(new Sized('a', 5));
    expect(chunker.empty).toBe(false);
    expect(chunker.close('delay')).toMatchObject({ value: ['a'], bytes: 5, reason: 'delay' });
    expect(chunker.close('delay')).toBeUndefined();
  });

  it('keeps every item, in order, in chunks as large as they may be', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(150), { maxLength: 100 }),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 120 }),
        (sizes, maxItems, maxBytes) => {
          const chunks = chunksOf(maxItems, maxBytes, sizes);
          expect(chunks.flatMap((chunk) => chunk.value)).toEqual(sizes.map((_, index) => index));
          chunks.forEach((chunk, at) => {
            const { value, bytes, tokens } = chunk;
            holds(value.length > 0 && value.length <= maxItems, chunk, maxItems);
            holds(tokens === value.length, chunk);
            const sum = value.reduce((before, index) => before + (sizes[index] as number), 0);
            holds(bytes === sum, chunk, sum);
            holds(value.length === 1 || bytes <= maxBytes, chunk, maxBytes);
            // What comes next would not have fitted.
            const next = chunks[at + 1]?.value[0];
            if (next === undefined || value.length === maxItems) return;
            holds(bytes + (sizes[next] as number) > maxBytes, chunk, maxBytes);
          });
        },
      ),
      { numRuns: runs(300) },
    );
  });
});

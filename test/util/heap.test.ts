import { describe, expect, it } from 'vitest';
import { Heap } from '../../src/util/heap.ts';

describe('a heap', () => {
  class Entry {
    readonly places = [0];
    rank = 0;
  }

  it('compares O(log n) times a change', () => {
    let comparisons = 0;
    const heap = new Heap<Entry>(0, (one, other) => {
      comparisons += 1;
      return one.rank < other.rank;
    });
    const entries = Array.from({ length: 1024 }, (_, at) => {
      const entry = new Entry();
      entry.rank = (at * 389) % 1024;
      heap.add(entry);
      return entry;
    });
    comparisons = 0;
    for (const entry of entries) {
      entry.rank = (entry.rank * 7 + 3) % 1024;
      heap.move(entry);
    }
    expect(comparisons).toBeLessThan(1024 * (2 * 10 + 1));
    for (const entry of entries.filter(({ rank }) => rank % 2 === 0)) heap.delete(entry);
    const ranks: number[] = [];
    for (let { top } = heap; top !== undefined; { top } = heap) {
      ranks.push(top.rank);
      heap.delete(top);
    }
    expect(ranks).toEqual(Array.from({ length: 512 }, (_, at) => 2 * at + 1));
  });
});

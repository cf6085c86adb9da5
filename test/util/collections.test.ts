import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Heap, type Linked, LinkedList, WeakRegistry } from '../../src/util/collections.ts';

class Member implements Linked<Member> {
  before: Member | undefined = undefined;
  after: Member | undefined = undefined;
}

function present(list: LinkedList<Member>): Member[] {
  const members: Member[] = [];
  for (let at = list.first; at !== undefined; at = at.after) members.push(at);
  return members;
}

describe('LinkedList', () => {
  it('behaves as an array, in every script, and keeps no reference to removed members', () => {
    const step = fc.tuple(fc.constantFrom('add', 'add', 'remove', 'return'), fc.nat());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const list = new LinkedList<Member>();
        const model: Member[] = [];
        const away: Member[] = [];
        for (const [what, number] of steps) {
          if (what === 'remove') {
            const [member] = model.splice(number % (model.length + 1), 1);
            if (member === undefined) continue;
            list.remove(member);
            expect([member.before, member.after]).toEqual([undefined, undefined]);
            away.push(member);
          } else {
            const member = (what === 'return' ? away.pop() : undefined) ?? new Member();
            list.add(member);
            model.push(member);
          }
          const members = present(list);
          expect(members).toHaveLength(model.length);
          expect(members.every((member, at) => member === model[at])).toBe(true);
          expect(members.every((member, at) => member.before === model[at - 1])).toBe(true);
        }
      }),
    );
  });
});

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

function watchedRegistry() {
  const registry = new WeakRegistry<{ readonly name: string }>();
  const seen: string[] = [];
  const unwatch = registry.watch({
    opened: ({ name }) => seen.push(`+${name}`),
    closed: ({ name }) => seen.push(`-${name}`),
  });
  return { registry, seen, unwatch };
}

describe('WeakRegistry', () => {
  it('reports added and removed members once', () => {
    const { registry, seen, unwatch } = watchedRegistry();
    const remove = registry.add({ name: 'a' });
    registry.add({ name: 'b' });
    remove();
    remove();
    unwatch();
    registry.add({ name: 'c' });
    expect(seen).toEqual(['+a', '+b', '-a']);
  });

  it('reports present members to a late watcher', () => {
    const { registry } = watchedRegistry();
    const members = Array.from({ length: 200 }, (_, n) => ({ name: `m${n}` }));
    const removers = members.map((member) => registry.add(member));
    for (const remove of removers.slice(0, 198)) remove();
    const seen: string[] = [];
    registry.watch({ opened: ({ name }) => seen.push(name), closed: () => {} });
    expect(seen).toEqual(['m198', 'm199']);
  });
});

import { describe, expect, it } from 'vitest';
import { WeakRegistry } from '../../src/util/weak-registry.ts';

function setUp() {
  const registry = new WeakRegistry<{ readonly name: string }>();
  const seen: string[] = [];
  const unwatch = registry.watch({
    opened: ({ name }) => seen.push(`+${name}`),
    closed: ({ name }) => seen.push(`-${name}`),
  });
  return { registry, seen, unwatch };
}

describe('WeakRegistry', () => {
  it('tells of members that come and go, each once', () => {
    const { registry, seen, unwatch } = setUp();
    const remove = registry.add({ name: 'a' });
    registry.add({ name: 'b' });
    remove();
    remove();
    unwatch();
    registry.add({ name: 'c' });
    expect(seen).toEqual(['+a', '+b', '-a']);
  });

  it('tells a late watcher of those that are there', () => {
    const { registry } = setUp();
    const members = Array.from({ length: 200 }, (_, n) => ({ name: `m${n}` }));
    const removers = members.map((member) => registry.add(member));
    for (const remove of removers.slice(0, 198)) remove();
    const seen: string[] = [];
    registry.watch({ opened: ({ name }) => seen.push(name), closed: () => {} });
    expect(seen).toEqual(['m198', 'm199']);
  });
});

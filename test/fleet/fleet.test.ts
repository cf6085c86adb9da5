import { describe, expect, it } from 'vitest';
import { joinFleet } from '../../src/fleet/fleet.ts';
import { memoryStore } from '../../src/fleet/memory-store.ts';

describe('joinFleet', () => {
  const store = memoryStore();
  const emit = () => {};

  it.each<[unknown[], string]>([
    [[], '`store` must be an object, got undefined'],
    [[{}, emit], '`store.exchange` must be a function, got undefined'],
    [[{ ...store, ttlMs: 5 }, emit], '`ttlMs` must be an integer >= 100, got 5'],
    [[store], '`emit` must be a function, got undefined'],
    [[store, emit, 5], '`instrumentation` must be an object, got 5'],
    [[store, emit, undefined, 'group'], '`peers` must be an object, got "group"'],
  ])('names the wrong argument of %j', (values, message) => {
    expect(() => Reflect.apply(joinFleet, undefined, values)).toThrow(message);
  });
});

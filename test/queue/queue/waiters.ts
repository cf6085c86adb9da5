import fc from 'fast-check';
import type { Queue } from '../../../src/queue/queue.ts';

/** What waits in these tests; it is its own owner. */
export interface Waiter {
  readonly id: number;
  priority: number;
  /** It was given another priority. */
  isMoved: boolean;
  /** Its place among those that came at the same time. */
  order: number;
  readonly key: string;
  readonly cost: number;
  since: number;
  cancelled: boolean;
}

export type Sort = Partial<Pick<Waiter, 'priority' | 'key' | 'cost'>>;

let count = 0;

export function waiter(sort: Sort = {}, since = 0): Waiter {
  count += 1;
  const plain = { id: count, order: count, priority: 0, key: 'a', cost: 1, isMoved: false };
  return { ...plain, ...sort, since, cancelled: false };
}

export const isCancelled = (item: Waiter): boolean => item.cancelled;
export const priorityOf = (item: Waiter): number => item.priority;
export const keyOf = (item: Waiter): string => item.key;

export type Waiters = Queue<Waiter, Waiter>;

export function push(queue: Waiters, sort?: Sort, since = 0): Waiter {
  const item = waiter(sort, since);
  queue.push(item, item, since);
  return item;
}

/** The one whose turn it is, still in the queue. */
export function peek(queue: Waiters): Waiter | undefined {
  return queue.seek() ? queue.item : undefined;
}

export function serve(queue: Waiters): Waiter | undefined {
  const item = peek(queue);
  if (item !== undefined) queue.shift();
  return item;
}

export function serveAll(queue: Waiters): Waiter[] {
  const served: Waiter[] = [];
  for (let item = serve(queue); item !== undefined; item = serve(queue)) served.push(item);
  return served;
}

export function kill(queue: Waiters, ...items: Waiter[]): void {
  for (const item of items) item.cancelled = true;
  queue.markCancelled(items.length);
}

export type Step =
  | { readonly do: 'push'; readonly sort: Sort; readonly afterMs: number }
  | { readonly do: 'peek' | 'serve' | 'replace' }
  | { readonly do: 'kill'; readonly which: number; readonly count: number }
  | { readonly do: 'overflow'; readonly sort: Sort }
  | { readonly do: 'move'; readonly which: number; readonly to: number };

const sort = fc.record({
  priority: fc.integer({ min: -2, max: 2 }),
  key: fc.constantFrom('a', 'b', 'c', 'd'),
  cost: fc.integer({ min: 0, max: 9 }),
});
const pushing = fc.record({
  do: fc.constant('push' as const),
  sort,
  afterMs: fc.integer({ min: 0, max: 4 }),
});
const serving = fc.record({ do: fc.constantFrom('peek' as const, 'serve' as const) });
const replacing = fc.record({ do: fc.constant('replace' as const) });
const killing = fc.record({
  do: fc.constant('kill' as const),
  which: fc.nat(),
  count: fc.integer({ min: 1, max: 30 }),
});
const overflowing = fc.record({ do: fc.constant('overflow' as const), sort });

const moving = fc.record({
  do: fc.constant('move' as const),
  which: fc.nat(),
  to: fc.integer({ min: -2, max: 2 }),
});

/** What may happen to a queue: waiters die or not, and get other priorities or not. */
export function script(withDeaths: boolean, withMoves = false): fc.Arbitrary<Step[]> {
  return fc.array(
    fc.oneof(
      { weight: 12, arbitrary: pushing },
      { weight: 6, arbitrary: serving },
      { weight: 1, arbitrary: replacing },
      { weight: 1, arbitrary: overflowing },
      ...(withDeaths ? [{ weight: 1, arbitrary: killing }] : []),
      ...(withMoves ? [{ weight: 8, arbitrary: moving }] : []),
    ),
    { minLength: 50, maxLength: 300, size: 'max' },
  );
}

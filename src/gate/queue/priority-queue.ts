import { OrderedQueue } from './ordered-queue.ts';
import { type PriorityOptions, PriorityOrder } from './priority-order.ts';
import type { IsDead } from './queue.ts';

/**
 * Higher priorities first; first in, first out within one. Those that wait grow more urgent, one
 * step of priority every `agingMs`, so that none starves: whoever has priority p is overtaken only
 * by those of a higher priority q that come less than (q - p) x `agingMs` after it. As all grow
 * alike, the order of two waiters never changes: they are ordered by `since - priority x agingMs`.
 *
 * Overflow gives up the oldest of the lowest priority, and the newcomer if its own is lower still.
 * The head may change from one `seek` to the next, when someone more urgent has come.
 * Memory is that of a `Fifo` for each priority that is present.
 */
export class PriorityQueue<Item, Owner> extends OrderedQueue<Item, Owner> {
  readonly #order: PriorityOrder<Item, Owner>;

  /** @throws RangeError when `agingMs` is no number >= 1; `push`, when a priority is no integer */
  constructor(isDead: IsDead<Item, Owner>, options: PriorityOptions<Item, Owner>) {
    const order = new PriorityOrder(options);
    super(isDead, order);
    this.#order = order;
  }

  /** How many priorities have waiters, those whose waiters are dead and not swept out yet too. */
  get priorities(): number {
    return this.#order.lanes;
  }
}

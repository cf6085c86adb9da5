import { Fifo } from './fifo.ts';
import type { IsCancelled } from './queue.ts';

/** The waiters of one priority, first in, first out. It does not count cancelled ones. */
export class PriorityBucket<Item, Owner> extends Fifo<Item, Owner> {
  priority = 0;
  /** Its only waiter, if it is the bucket of one that was moved; else undefined. */
  moved: Item | undefined = undefined;
  /** The order of moved waiters that arrived at the same time. */
  order = 0;
  /** Its index in two heaps. */
  readonly places = [0, 0];

  constructor() {
    super(() => false);
  }

  /**
   * Removes cancelled waiters in one turn of the ring, without a copy. @returns how many there were
   */
  sweep(isCancelled: IsCancelled<Item, Owner>): number {
    const before = this.length;
    for (let left = before; left > 0; left -= 1) {
      const { item, owner, since, reply } = this;
      this.shift();
      if (!isCancelled(item, owner)) this.push(item, owner, since, reply);
    }
    return before - this.length;
  }
}

import { Fifo } from './fifo.ts';
import type { IsDead } from './queue.ts';

/** Those of one priority, first in, first out. Of the dead it knows nothing but how to take them out. */
export class PriorityBucket<Item, Owner> extends Fifo<Item, Owner> {
  priority = 0;
  /** In two heaps. */
  readonly places = [0, 0];

  constructor() {
    super(() => false);
  }

  /** Turns once round, so that no second copy is made of what lives. @returns how many were dead */
  sweep(isDead: IsDead<Item, Owner>): number {
    const before = this.length;
    for (let left = before; left > 0; left -= 1) {
      const { item, owner, since, reply } = this;
      this.shift();
      if (!isDead(item, owner)) this.push(item, owner, since, reply);
    }
    return before - this.length;
  }
}

import { Fifo } from '../fifo.ts';
import type { Order } from './order.ts';
import type { IsDead } from './queue.ts';

/** First in, first out: a lane of the other orders. The oldest is the first. */
export class FifoOrder<Item, Owner> extends Fifo<Item, Owner> implements Order<Item, Owner> {
  constructor() {
    super(() => false);
  }

  first(): boolean {
    return this.length > 0;
  }

  oldest(): boolean {
    return this.length > 0;
  }

  outranks(): boolean {
    return false;
  }

  drop(): void {
    this.shift();
  }

  /** Turns once round, so that no second copy is made of what lives. */
  sweep(isDead: IsDead<Item, Owner>): number {
    const before = this.length;
    for (let left = before; left > 0; left -= 1) {
      const { item, owner, since } = this;
      this.shift();
      if (!isDead(item, owner)) this.push(item, owner, since);
    }
    return before - this.length;
  }
}

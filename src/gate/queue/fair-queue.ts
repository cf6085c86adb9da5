import { type FairOptions, FairOrder } from './fair-order.ts';
import { OrderedQueue } from './ordered-queue.ts';
import type { IsDead } from './queue.ts';

/**
 * Serves keys in turns, by cost: deficit round robin (Shreedhar and Varghese 1996), O(1) amortised.
 * First in, first out within one key, unless its lane has another order.
 *
 * While two keys both have waiters, what is served of one and of the other differs by at most
 * `quantum` + 2 x the largest cost, over any period; every key is served within one round. A
 * request of less than 1 counts as 1, so that free requests cannot keep a turn for ever.
 *
 * A key is dropped with its last waiter, and what it had left to spend with it: it can neither save
 * up while it sends nothing nor gain by leaving. Its next request begins at the end of the round.
 *
 * The head that `seek` has found stays the head until it is shifted or dead, whoever comes; only in
 * lanes with priorities a more urgent one of its key may take its place on overflow.
 * Overflow gives up the oldest of the key that has the most waiters, so a key that floods the queue
 * pushes out its own.
 */
export class FairQueue<Item, Owner> extends OrderedQueue<Item, Owner> {
  readonly #order: FairOrder<Item, Owner>;

  /**
   * @throws RangeError when `minQuantum` is no number >= 0; `seek`, when a cost is no finite number
   * >= 0
   */
  constructor(isDead: IsDead<Item, Owner>, options: FairOptions<Item, Owner>) {
    const order = new FairOrder(options);
    super(isDead, order);
    this.#order = order;
  }

  /** How many keys have waiters, those whose waiters are dead and not swept out yet too. */
  get keys(): number {
    return this.#order.lanes;
  }

  /** What a turn is worth now: `minQuantum`, or the largest cost met since the queue was empty. */
  get quantum(): number {
    return this.#order.quantum;
  }
}

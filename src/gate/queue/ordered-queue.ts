import type { Order } from './order.ts';
import type { IsDead, Queue } from './queue.ts';

/** So many dead are never worth a sweep. */
const FEW = 16;

/**
 * A queue in any order. It counts the dead, which nobody says the place of: each is skipped when
 * its turn comes, and when they outnumber the living all are swept out. A sweep costs what the
 * pushes of the dead have paid for, so the dead cost O(1) each, amortised.
 */
export class OrderedQueue<Item, Owner> implements Queue<Item, Owner> {
  readonly #isDead: IsDead<Item, Owner>;
  readonly #order: Order<Item, Owner>;
  /** The buried that are still in it; below 0: so many were taken out that are not buried yet. */
  #dead = 0;

  constructor(isDead: IsDead<Item, Owner>, order: Order<Item, Owner>) {
    this.#isDead = isDead;
    this.#order = order;
  }

  get length(): number {
    return this.#order.length - this.#dead;
  }

  push(item: Item, owner: Owner, since: number): void {
    this.#order.push(item, owner, since);
  }

  /** Sweeps here and not in `bury`: whoever works on the head must not lose it meanwhile. */
  seek(): boolean {
    if (this.#dead > FEW && this.#dead > this.length) this.#dead -= this.#order.sweep(this.#isDead);
    while (this.#order.first()) {
      if (this.headLives()) return true;
    }
    return false;
  }

  seekOldest(newcomer: Item, owner: Owner): boolean {
    while (this.#order.oldest()) {
      if (this.headLives()) return !this.#order.outranks(newcomer, owner);
    }
    return false;
  }

  get item(): Item {
    return this.#order.item;
  }

  get owner(): Owner {
    return this.#order.owner;
  }

  get since(): number {
    return this.#order.since;
  }

  replace(item: Item): void {
    this.#order.replace(item);
  }

  shift(): void {
    if (this.isHeadDead()) this.#dead -= 1;
    this.#order.shift();
  }

  bury(count: number): void {
    this.#dead += count;
  }

  /** A dead head is taken out. */
  private headLives(): boolean {
    if (!this.isHeadDead()) return true;
    this.#dead -= 1;
    this.#order.drop();
    return false;
  }

  private isHeadDead(): boolean {
    return this.#isDead(this.#order.item, this.#order.owner);
  }
}

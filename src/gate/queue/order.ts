import type { IsDead } from './queue.ts';

/**
 * An order in which waiters are served. It knows nothing of the dead but how to take them out on
 * demand; `OrderedQueue` makes a queue of it, and a `FairOrder` one of its lanes.
 */
export interface Order<Item, Owner> {
  /** How many are in it, the dead too. */
  readonly length: number;
  push(item: Item, owner: Owner, since: number): void;
  /** Brings to the head whoever is to be served next. @returns false if there is nobody */
  first(): boolean;
  /** Brings to the head whoever is given up first. @returns false if there is nobody */
  oldest(): boolean;
  /** Whether the head, found by `oldest`, is worth more than a newcomer. */
  outranks(newcomer: Item, owner: Owner): boolean;
  /** The head. It stays the same until `first` or `oldest` is called. */
  readonly item: Item;
  readonly owner: Owner;
  readonly since: number;
  replace(item: Item): void;
  /** Takes the head out: it is served. */
  shift(): void;
  /** Takes the head out unserved. */
  drop(): void;
  /** Takes out all the dead. A head that lives stays the head. @returns how many there were */
  sweep(isDead: IsDead<Item, Owner>): number;
}

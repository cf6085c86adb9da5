import { DeficitRound } from './deficit-round.ts';
import { FifoOrder } from './fifo-order.ts';
import { Lengths } from './lengths.ts';
import { Link } from './link.ts';
import type { Order } from './order.ts';
import type { IsDead } from './queue.ts';

export interface FairOptions<Item, Owner> {
  /** Whom the waiter counts for: a tenant, a model. Asked when the waiter comes. */
  readonly keyOf: (item: Item, owner: Owner) => string;
  /**
   * What it costs to serve the waiter: 1, say, or its tokens; finite, >= 0, and counted as 1 if
   * less. Asked when the waiter is the first of its key, perhaps more than once: it must not throw,
   * nor change while the waiter waits.
   */
  readonly costOf: (item: Item, owner: Owner) => number;
  /**
   * The least that a turn is worth. More than the largest cost lets a key have several requests
   * served in a row. 0 by default: a turn is worth the largest cost.
   */
  readonly minQuantum?: number;
  /** Makes the order among those of one key. First in, first out by default. */
  readonly newLane?: () => Order<Item, Owner>;
}

/** Those of one key. */
class Lane<Item, Owner> {
  key = '';
  deficit = 0;
  readonly waiters: Order<Item, Owner>;
  readonly turn: Link<Lane<Item, Owner>> = new Link(this);
  readonly rank: Link<Lane<Item, Owner>> = new Link(this);

  constructor(waiters: Order<Item, Owner>) {
    this.waiters = waiters;
  }
}

/**
 * The order of `FairQueue`: a lane for each key that is present, served in turns. A lane may be in
 * any order, fair again for the models of each tenant, say. Everything is O(1), amortised.
 */
export class FairOrder<Item, Owner> implements Order<Item, Owner> {
  readonly #keyOf: (item: Item, owner: Owner) => string;
  readonly #newLane: () => Order<Item, Owner>;
  readonly #lanes = new Map<string, Lane<Item, Owner>>();
  readonly #round: DeficitRound<Lane<Item, Owner>>;
  readonly #lengths = new Lengths<Lane<Item, Owner>>();
  /** The last lane that was emptied: keys that come and go make no garbage. */
  #spare: Lane<Item, Owner> | undefined = undefined;
  /** Whose head is the head of all, and whether it is there to be served. */
  #head: Lane<Item, Owner>;
  #isServed = false;
  #length = 0;

  constructor(options: FairOptions<Item, Owner>) {
    const { keyOf, costOf, minQuantum = 0, newLane = () => new FifoOrder() } = options;
    this.#keyOf = keyOf;
    this.#newLane = newLane;
    this.#round = new DeficitRound(minQuantum, ({ waiters }) => {
      waiters.first();
      return costOf(waiters.item, waiters.owner);
    });
    this.#head = new Lane(newLane());
  }

  get length(): number {
    return this.#length;
  }

  /** How many keys are present. */
  get lanes(): number {
    return this.#lanes.size;
  }

  /** What a turn is worth now. */
  get quantum(): number {
    return this.#round.quantum;
  }

  push(item: Item, owner: Owner, since: number): void {
    const key = this.#keyOf(item, owner);
    const present = this.#lanes.get(key);
    const lane = present ?? this.#spare ?? new Lane(this.#newLane());
    lane.waiters.push(item, owner, since);
    if (present === undefined) this.#open(lane, key);
    this.#resized(lane, lane.waiters.length - 1);
  }

  first(): boolean {
    return this.#turnTo(this.#round.spender(), true);
  }

  /** Of the key that has the most waiters, the one that the order of its lane gives up first. */
  oldest(): boolean {
    if (!this.#turnTo(this.#lengths.longest, false)) return false;
    this.#round.withdraw(this.#head);
    return this.#head.waiters.oldest();
  }

  /** Compares with those of the same key alone. */
  outranks(newcomer: Item, owner: Owner): boolean {
    const lane = this.#lanes.get(this.#keyOf(newcomer, owner));
    return lane === this.#head && lane.waiters.outranks(newcomer, owner);
  }

  get item(): Item {
    return this.#head.waiters.item;
  }

  get owner(): Owner {
    return this.#head.waiters.owner;
  }

  get since(): number {
    return this.#head.waiters.since;
  }

  replace(item: Item): void {
    this.#head.waiters.replace(item);
  }

  shift(): void {
    if (this.#isServed) this.#round.spend();
    this.#head.waiters.shift();
    this.#resized(this.#head, this.#head.waiters.length + 1);
  }

  drop(): void {
    this.#round.withdraw(this.#head);
    this.#head.waiters.drop();
    this.#resized(this.#head, this.#head.waiters.length + 1);
  }

  sweep(isDead: IsDead<Item, Owner>): number {
    const spender = this.#round.spender();
    if (spender !== undefined && isDead(spender.waiters.item, spender.waiters.owner)) {
      this.#round.withdraw(spender);
    }
    const before = this.#length;
    for (const lane of this.#lanes.values()) {
      const { length } = lane.waiters;
      lane.waiters.sweep(isDead);
      this.#resized(lane, length);
    }
    return before - this.#length;
  }

  #turnTo(lane: Lane<Item, Owner> | undefined, isServed: boolean): boolean {
    if (lane === undefined) return false;
    this.#head = lane;
    this.#isServed = isServed;
    return true;
  }

  #open(lane: Lane<Item, Owner>, key: string): void {
    if (lane === this.#spare) this.#spare = undefined;
    lane.key = key;
    this.#lanes.set(key, lane);
    this.#round.join(lane);
  }

  /** Those in a lane have become more or fewer. */
  #resized(lane: Lane<Item, Owner>, before: number): void {
    const { length } = lane.waiters;
    this.#length += length - before;
    this.#lengths.change(lane.rank, before, length);
    if (length > 0) return;
    this.#lanes.delete(lane.key);
    this.#round.leave(lane);
    this.#spare = lane;
  }
}

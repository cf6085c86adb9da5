import { checkInteger, checkNumber } from '../../model/check.ts';
import { FifoOrder } from './fifo-order.ts';
import { Heap } from './heap.ts';
import type { Order } from './order.ts';
import type { IsDead } from './queue.ts';

export interface PriorityOptions<Item, Owner> {
  /** An integer; more is more urgent. Asked when the waiter comes. */
  priorityOf(item: Item, owner: Owner): number;
  /** The waiting time that makes up for one step of priority, in ms; at least 1. */
  readonly agingMs: number;
}

/** Those of one priority, first in, first out. */
class Lane<Item, Owner> extends FifoOrder<Item, Owner> {
  priority = 0;
  /** What the lanes are ordered by: when the head came, made earlier by its priority. */
  key = 0;
  readonly places = [0, 0];
}

/** On equal keys, whoever waits longer. */
function isMoreUrgent<Item, Owner>(one: Lane<Item, Owner>, other: Lane<Item, Owner>): boolean {
  return one.key < other.key || (one.key === other.key && one.since < other.since);
}

/**
 * The order of `PriorityQueue`: a lane for each priority that is present, and the lanes in a heap
 * by the key of their heads. A push or shift costs O(log lanes) at most, with one lane O(1).
 * A lane is closed when it is empty, but for the last: a queue that is often empty, with a single
 * priority in use, costs little more than a `Fifo`.
 */
export class PriorityOrder<Item, Owner> implements Order<Item, Owner> {
  readonly #priorityOf: (item: Item, owner: Owner) => number;
  readonly #agingMs: number;
  readonly #lanes = new Map<number, Lane<Item, Owner>>();
  readonly #byUrgency = new Heap<Lane<Item, Owner>>(0, isMoreUrgent);
  readonly #byPriority = new Heap<Lane<Item, Owner>>(
    1,
    (one, other) => one.priority < other.priority,
  );
  /** The open lane where the last has come: most are followed by one of the same priority. */
  #latest: Lane<Item, Owner> | undefined = undefined;
  /** The last lane that was closed, for reuse. */
  #spare: Lane<Item, Owner> | undefined = undefined;
  /** Whose head is the head of all. */
  #head = new Lane<Item, Owner>();
  #length = 0;

  constructor({ priorityOf, agingMs }: PriorityOptions<Item, Owner>) {
    this.#priorityOf = priorityOf;
    this.#agingMs = checkNumber('agingMs', agingMs, 1);
  }

  get length(): number {
    return this.#length;
  }

  /** How many priorities are present. */
  get lanes(): number {
    return this.#length === 0 ? 0 : this.#lanes.size;
  }

  push(item: Item, owner: Owner, since: number): void {
    const priority = this.#priorityOf(item, owner);
    const lane = this.#latest?.priority === priority ? this.#latest : this.laneOf(priority);
    lane.push(item, owner, since);
    this.#length += 1;
    if (lane.length === 1) this.headChanged(lane);
  }

  first(): boolean {
    return this.turnTo(this.#byUrgency.top);
  }

  /** Of the lowest priority that is present, the one that waits longest. */
  oldest(): boolean {
    return this.turnTo(this.#byPriority.top);
  }

  outranks(newcomer: Item, owner: Owner): boolean {
    return this.#head.priority > this.#priorityOf(newcomer, owner);
  }

  get item(): Item {
    return this.#head.item;
  }

  get owner(): Owner {
    return this.#head.owner;
  }

  get since(): number {
    return this.#head.since;
  }

  replace(item: Item): void {
    this.#head.replace(item);
  }

  shift(): void {
    this.#head.shift();
    this.#length -= 1;
    this.headChanged(this.#head);
  }

  drop(): void {
    this.shift();
  }

  sweep(isDead: IsDead<Item, Owner>): number {
    const before = this.#length;
    for (const lane of this.#lanes.values()) {
      this.#length -= lane.sweep(isDead);
      this.headChanged(lane);
    }
    return before - this.#length;
  }

  private turnTo(lane: Lane<Item, Owner> | undefined): boolean {
    if (lane === undefined || this.#length === 0) return false;
    this.#head = lane;
    return true;
  }

  private laneOf(priority: number): Lane<Item, Owner> {
    this.#latest = this.#lanes.get(priority) ?? this.open(priority);
    return this.#latest;
  }

  private open(priority: number): Lane<Item, Owner> {
    checkInteger('priority', priority, Number.MIN_SAFE_INTEGER);
    const idle = this.#length === 0 ? this.#byUrgency.top : undefined;
    if (idle !== undefined) this.close(idle);
    const lane = this.#spare ?? new Lane<Item, Owner>();
    this.#spare = undefined;
    lane.priority = priority;
    lane.key = Number.POSITIVE_INFINITY;
    this.#lanes.set(priority, lane);
    this.#byUrgency.add(lane);
    this.#byPriority.add(lane);
    return lane;
  }

  private headChanged(lane: Lane<Item, Owner>): void {
    if (lane.length > 0) {
      lane.key = lane.since - lane.priority * this.#agingMs;
      this.#byUrgency.move(lane);
    } else if (this.#length > 0) {
      this.close(lane);
    }
  }

  private close(lane: Lane<Item, Owner>): void {
    if (lane === this.#latest) this.#latest = undefined;
    this.#lanes.delete(lane.priority);
    this.#byUrgency.delete(lane);
    this.#byPriority.delete(lane);
    this.#spare = lane;
  }
}

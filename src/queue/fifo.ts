import type { ShowWaiter } from './queue.ts';

/** Capacity of the first segment: most queues stay empty. */
const FIRST = 4;
/** Fewer cancelled waiters than this are never swept out. */
const LEAST = 16;
/** Capacity of the largest segment. Larger ones would not make a waiter cheaper. */
const MOST = 1024;

/** The place of a waiter, without its item. */
export interface Place<Owner> {
  readonly owner: Owner;
  readonly since: number;
  readonly reply: unknown;
}

/** A part of the queue: items, owners, arrival times and replies in parallel arrays. */
class Segment<Item, Owner> {
  readonly items: (Item | undefined)[];
  readonly owners: (Owner | undefined)[];
  readonly since: Float64Array;
  /** Made when the first waiter has a reply. */
  replies: unknown[] | undefined = undefined;
  /** The waiters are between head and tail. */
  head = 0;
  tail = 0;
  next: Segment<Item, Owner> | undefined = undefined;

  constructor(room: number) {
    this.items = new Array(room).fill(undefined);
    this.owners = new Array(room).fill(undefined);
    this.since = new Float64Array(room);
  }
}

/**
 * First in, first out, in a chain of segments: a waiter costs 24 bytes (32 with a reply) and no
 * object of its own, nothing is copied to make room, and used-up segments are released.
 *
 * Waiters may be cancelled in the queue. `markCancelled` counts them, and they are skipped when
 * their turn comes; when they outnumber the others, they are swept out. Everything is O(1),
 * amortised.
 */
export class Fifo<Item, Owner> {
  /** All waiters are equally urgent. */
  key = 0;
  private readonly isCancelled: (item: Item, owner: Owner) => boolean;
  private first: Segment<Item, Owner> = new Segment(FIRST);
  private last = this.first;
  /** A spare segment for reuse, so that a queue of constant length makes no garbage. */
  private spare: Segment<Item, Owner> | undefined = undefined;
  private count = 0;
  private cancelled = 0;

  constructor(isCancelled: (item: Item, owner: Owner) => boolean) {
    this.isCancelled = isCancelled;
  }

  /** The number of waiters, without the cancelled ones. */
  get length(): number {
    return this.count - this.cancelled;
  }

  /** @returns false: those before it are served first */
  push(item: Item, owner: Owner, since: number, reply?: unknown): boolean {
    let last = this.last;
    if (last.tail === last.items.length) last = this.extend();
    last.items[last.tail] = item;
    last.owners[last.tail] = owner;
    last.since[last.tail] = since;
    if (reply !== undefined) {
      last.replies ??= new Array(last.items.length).fill(undefined);
      last.replies[last.tail] = reply;
    }
    last.tail += 1;
    this.count += 1;
    return false;
  }

  /**
   * Brings the longest-waiting request that is not cancelled to the head. @returns false if there
   * is none
   */
  seek(): boolean {
    while (this.count > 0) {
      if (!this.isCancelled(this.item, this.owner)) return true;
      this.shift();
      if (this.cancelled > 0) this.cancelled -= 1;
    }
    return false;
  }

  /** The head, after `seek` has found one. */
  get item(): Item {
    return this.first.items[this.first.head] as Item;
  }

  /** The owner of the head. */
  get owner(): Owner {
    return this.first.owners[this.first.head] as Owner;
  }

  /** Since when the head waits. */
  get since(): number {
    return this.first.since[this.first.head] as number;
  }

  /** The reply that came with the head, if any. */
  get reply(): unknown {
    return this.first.replies?.[this.first.head];
  }

  /** Replaces the item of the head. */
  replace(item: Item): void {
    this.first.items[this.first.head] = item;
  }

  /**
   * Puts another item in the place of a waiter, and returns that place; undefined if the waiter is
   * not in this queue. Segments whose waiters all came before it are skipped.
   *
   * @param since since when it waits, as far as known
   */
  leave(item: Item, since: number, by: Item): Place<Owner> | undefined {
    const from = Number.isNaN(since) ? Number.NEGATIVE_INFINITY : since;
    for (let segment = this.first; ; segment = segment.next) {
      const { items, owners, replies, head, tail } = segment;
      if (tail > head && (segment.since[tail - 1] as number) >= from) {
        const at = items.indexOf(item, head);
        if (at >= 0) {
          items[at] = by;
          const reply = replies?.[at];
          return { owner: owners[at] as Owner, since: segment.since[at] as number, reply };
        }
      }
      if (segment.next === undefined) return undefined;
    }
  }

  /** Takes the head out. */
  shift(): void {
    const first = this.first;
    first.items[first.head] = undefined;
    first.owners[first.head] = undefined;
    if (first.replies !== undefined) first.replies[first.head] = undefined;
    first.head += 1;
    this.count -= 1;
    if (first.head < first.tail) return;
    first.head = 0;
    first.tail = 0;
    if (first.next === undefined) return;
    this.first = first.next;
    first.next = undefined;
    this.spare = first;
  }

  /** Shows all places, in order, those of cancelled waiters too. Nothing may change meanwhile. */
  each(show: ShowWaiter<Item, Owner>): void {
    for (let part: Segment<Item, Owner> | undefined = this.first; part; part = part.next) {
      for (let at = part.head; at < part.tail; at += 1) {
        const since = part.since[at] as number;
        show(part.items[at] as Item, part.owners[at] as Owner, since, part.replies?.[at]);
      }
    }
  }

  /** Counts waiters that were cancelled since the last call; at most as many as wait. */
  markCancelled(count: number): void {
    this.cancelled = Math.min(this.cancelled + count, this.count);
    if (this.cancelled > LEAST && this.cancelled > this.length) this.sweep();
  }

  private extend(): Segment<Item, Owner> {
    const room = Math.min(MOST, this.last.items.length * 2);
    const next = this.spare?.items.length === room ? this.spare : new Segment<Item, Owner>(room);
    this.spare = undefined;
    this.last.next = next;
    this.last = next;
    return next;
  }

  /** Takes out the cancelled waiters. @returns how many there were */
  sweep(): number {
    const { count } = this;
    let old: Segment<Item, Owner> | undefined = this.first;
    this.first = new Segment(FIRST);
    this.last = this.first;
    this.spare = undefined;
    this.count = 0;
    this.cancelled = 0;
    for (; old !== undefined; old = old.next) {
      for (let at = old.head; at < old.tail; at += 1) {
        const item = old.items[at] as Item;
        const owner = old.owners[at] as Owner;
        if (this.isCancelled(item, owner)) continue;
        this.push(item, owner, old.since[at] as number, old.replies?.[at]);
      }
    }
    return count - this.count;
  }
}

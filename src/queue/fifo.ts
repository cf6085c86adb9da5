/** Room of the first segment: most queues stay empty. */
const FIRST = 4;
/** So many dead are never worth a sweep. */
const LEAST = 16;
/** Room of the largest: beyond it the length of a queue costs no more a waiter. */
const MOST = 1024;

/** A part of the queue: what waits, for whom, since when, and how to reply, side by side. */
class Segment<Item, Owner> {
  readonly items: (Item | undefined)[];
  readonly owners: (Owner | undefined)[];
  readonly since: Float64Array;
  /** Since somebody had one. */
  replies: unknown[] | undefined = undefined;
  /** Those between head and tail wait. */
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
 * object of its own, nothing is ever copied to make room, and what has passed is given back.
 *
 * Waiters may die in the queue. They are counted with `bury` and skipped when their turn comes;
 * when the dead outnumber the living they are swept out. Everything is O(1), amortised.
 */
export class Fifo<Item, Owner> {
  /** All are as urgent. */
  key = 0;
  private readonly isDead: (item: Item, owner: Owner) => boolean;
  private first: Segment<Item, Owner> = new Segment(FIRST);
  private last = this.first;
  /** Kept for reuse, so that a queue that is as long as it was makes no garbage. */
  private spare: Segment<Item, Owner> | undefined = undefined;
  private count = 0;
  private dead = 0;

  constructor(isDead: (item: Item, owner: Owner) => boolean) {
    this.isDead = isDead;
  }

  /** How many wait, the dead not counted. */
  get length(): number {
    return this.count - this.dead;
  }

  /** @returns false: those before it are served before it */
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

  /** Brings the living one that waits longest to the head. @returns false if there is none */
  seek(): boolean {
    while (this.count > 0) {
      if (!this.isDead(this.item, this.owner)) return true;
      this.shift();
      if (this.dead > 0) this.dead -= 1;
    }
    return false;
  }

  /** The head, after `seek` has found one. */
  get item(): Item {
    return this.first.items[this.first.head] as Item;
  }

  /** Whom the head waits for. */
  get owner(): Owner {
    return this.first.owners[this.first.head] as Owner;
  }

  /** Since when the head waits. */
  get since(): number {
    return this.first.since[this.first.head] as number;
  }

  /** What the owner of the head needs beside the item, if it does. */
  get reply(): unknown {
    return this.first.replies?.[this.first.head];
  }

  /** Puts something else in the place of the head. */
  replace(item: Item): void {
    this.first.items[this.first.head] = item;
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

  /** So many of those that wait have died since the last call. More than wait cannot have. */
  bury(count: number): void {
    this.dead = Math.min(this.dead + count, this.count);
    if (this.dead > LEAST && this.dead > this.length) this.sweepDead();
  }

  private extend(): Segment<Item, Owner> {
    const room = Math.min(MOST, this.last.items.length * 2);
    const next = this.spare?.items.length === room ? this.spare : new Segment<Item, Owner>(room);
    this.spare = undefined;
    this.last.next = next;
    this.last = next;
    return next;
  }

  /** Keeps the living alone. */
  private sweepDead(): void {
    let old: Segment<Item, Owner> | undefined = this.first;
    this.first = new Segment(FIRST);
    this.last = this.first;
    this.spare = undefined;
    this.count = 0;
    this.dead = 0;
    for (; old !== undefined; old = old.next) {
      for (let at = old.head; at < old.tail; at += 1) {
        const item = old.items[at] as Item;
        const owner = old.owners[at] as Owner;
        if (this.isDead(item, owner)) continue;
        this.push(item, owner, old.since[at] as number, old.replies?.[at]);
      }
    }
  }
}

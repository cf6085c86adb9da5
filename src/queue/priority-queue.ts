import { checkInteger, checkNumber } from '../model/check.ts';
import { Heap } from './heap.ts';
import { PriorityBucket } from './priority-bucket.ts';
import type { IsDead, Queue } from './queue.ts';

export interface PriorityOptions<Item, Owner> {
  /** An integer; more is more urgent. Asked when the waiter comes. */
  priorityOf(item: Item, owner: Owner): number;
  /** The waiting time that makes up for one step of priority, in ms; at least 1. */
  readonly agingMs: number;
}

/** So many dead are never worth a sweep. */
const FEW = 16;

/** On equal keys, whoever waits longer. */
function isMoreUrgent<Item, Owner>(
  one: PriorityBucket<Item, Owner>,
  other: PriorityBucket<Item, Owner>,
): boolean {
  return one.key < other.key || (one.key === other.key && one.since < other.since);
}

/**
 * Higher priorities first; first in, first out within one. Those that wait grow more urgent, one
 * step of priority every `agingMs`, so that none starves: whoever has priority p is overtaken only
 * by those of a higher priority q that come less than (q - p) x `agingMs` after it. As all grow
 * alike, the order of two waiters never changes: they are ordered by `since - priority x agingMs`.
 *
 * Overflow gives up the oldest of the lowest priority, and the newcomer if its own is lower still.
 * The head may change from one `seek` to the next, when someone more urgent has come.
 *
 * A bucket for each priority that is present, and the buckets in a heap by the key of their heads: a
 * push or shift costs O(log buckets) at most, with one bucket O(1). A bucket is closed when it is empty,
 * but for the last: a queue that is often empty, with a single priority in use, costs little more
 * than a `Fifo`.
 *
 * It counts the dead, which nobody says the place of: each is skipped when its turn comes, and when
 * they outnumber the living all are swept out. A sweep costs what the pushes of the dead have paid
 * for, so the dead cost O(1) each, amortised.
 */
export class PriorityQueue<Item, Owner> implements Queue<Item, Owner> {
  private readonly isDead: IsDead<Item, Owner>;
  private readonly priorityOf: (item: Item, owner: Owner) => number;
  private readonly agingMs: number;
  private readonly buckets = new Map<number, PriorityBucket<Item, Owner>>();
  private readonly byUrgency = new Heap<PriorityBucket<Item, Owner>>(0, isMoreUrgent);
  private readonly byPriority = new Heap<PriorityBucket<Item, Owner>>(
    1,
    (one, other) => one.priority < other.priority,
  );
  /** The open bucket where the last has come: most are followed by one of the same priority. */
  private latest: PriorityBucket<Item, Owner> | undefined = undefined;
  /** The last bucket that was closed, for reuse. */
  private spare: PriorityBucket<Item, Owner> | undefined = undefined;
  /** Whose head is the head of all. */
  private head = new PriorityBucket<Item, Owner>();
  /** All that are in it, the dead too. */
  private count = 0;
  /** The buried that are still in it; below 0: so many were taken out that are not buried yet. */
  private dead = 0;

  /** @throws RangeError when `agingMs` is no number >= 1; `push`, when a priority is no integer */
  constructor(isDead: IsDead<Item, Owner>, { priorityOf, agingMs }: PriorityOptions<Item, Owner>) {
    this.isDead = isDead;
    this.priorityOf = priorityOf;
    this.agingMs = checkNumber('agingMs', agingMs, 1);
  }

  get length(): number {
    return this.count - this.dead;
  }

  /** How many priorities have waiters, those whose waiters are dead and not swept out yet too. */
  get priorities(): number {
    return this.count === 0 ? 0 : this.buckets.size;
  }

  push(item: Item, owner: Owner, since: number, reply?: unknown): boolean {
    const priority = this.priorityOf(item, owner);
    const bucket = this.latest?.priority === priority ? this.latest : this.bucketOf(priority);
    bucket.push(item, owner, since, reply);
    this.count += 1;
    if (bucket.length === 1) this.headChanged(bucket);
    // The dead may be all that is before it.
    return bucket.length === 1 || this.dead !== 0;
  }

  /** Sweeps here and not in `bury`: whoever works on the head must not lose it meanwhile. */
  seek(): boolean {
    if (this.dead > FEW && this.dead > this.length) this.sweep();
    return this.turnTo(this.byUrgency);
  }

  seekOldest(newcomer: Item, owner: Owner): boolean {
    const isFound = this.turnTo(this.byPriority);
    return isFound && this.head.priority <= this.priorityOf(newcomer, owner);
  }

  get key(): number {
    return this.head.key;
  }

  get item(): Item {
    return this.head.item;
  }

  get owner(): Owner {
    return this.head.owner;
  }

  get since(): number {
    return this.head.since;
  }

  get reply(): unknown {
    return this.head.reply;
  }

  replace(item: Item): void {
    this.head.replace(item);
  }

  shift(): void {
    const head = this.head;
    if (this.isDead(head.item, head.owner)) this.dead -= 1;
    head.shift();
    this.count -= 1;
    this.headChanged(head);
  }

  bury(count: number): void {
    this.dead += count;
  }

  /** Makes the first living one of a heap's buckets the head; the dead before it are taken out. */
  private turnTo(buckets: Heap<PriorityBucket<Item, Owner>>): boolean {
    while (this.count > 0) {
      const head = buckets.top as PriorityBucket<Item, Owner>;
      this.head = head;
      if (!this.isDead(head.item, head.owner)) return true;
      this.shift();
    }
    return false;
  }

  private sweep(): void {
    for (const bucket of this.buckets.values()) {
      const dead = bucket.sweep(this.isDead);
      this.count -= dead;
      this.dead -= dead;
      this.headChanged(bucket);
    }
  }

  private bucketOf(priority: number): PriorityBucket<Item, Owner> {
    this.latest = this.buckets.get(priority) ?? this.open(priority);
    return this.latest;
  }

  private open(priority: number): PriorityBucket<Item, Owner> {
    checkInteger('priority', priority, Number.MIN_SAFE_INTEGER);
    const idle = this.count === 0 ? this.byUrgency.top : undefined;
    if (idle !== undefined) this.close(idle);
    const bucket = this.spare ?? new PriorityBucket<Item, Owner>();
    this.spare = undefined;
    bucket.priority = priority;
    bucket.key = Number.POSITIVE_INFINITY;
    this.buckets.set(priority, bucket);
    this.byUrgency.add(bucket);
    this.byPriority.add(bucket);
    return bucket;
  }

  private headChanged(bucket: PriorityBucket<Item, Owner>): void {
    if (bucket.length > 0) {
      bucket.key = bucket.since - bucket.priority * this.agingMs;
      this.byUrgency.move(bucket);
    } else if (this.count > 0) {
      this.close(bucket);
    }
  }

  private close(bucket: PriorityBucket<Item, Owner>): void {
    if (bucket === this.latest) this.latest = undefined;
    this.buckets.delete(bucket.priority);
    this.byUrgency.delete(bucket);
    this.byPriority.delete(bucket);
    this.spare = bucket;
  }
}

import { checkInteger, checkOrInfinity } from '../util/check.ts';
import { Heap } from '../util/collections.ts';
import { Fifo } from './fifo.ts';
import type { IsCancelled, PriorityChange, Queue, ShowWaiter } from './queue.ts';

export interface PriorityOptions<Item, Owner> {
  /** An integer; higher is more urgent. Read when the waiter arrives. */
  priorityOf(item: Item, owner: Owner): number;
  /**
   * The waiting time that makes up for one step of priority, in ms; at least 1. Infinity: none does.
   */
  readonly agingMs: number;
}

/** Fewer cancelled waiters than this are never swept out. */
const FEW = 16;

/** Replaces the item of a waiter that was moved to another bucket. */
const LEFT = Symbol('left');

/** The waiters of one priority, first in, first out. It does not count cancelled ones. */
class PriorityBucket<Item, Owner> extends Fifo<Item, Owner> {
  priority = 0;
  /** The only waiter of a bucket for a moved one; else undefined. */
  moved: Item | undefined = undefined;
  /** The order of moved waiters that arrived at the same time. */
  order = 0;
  /** Its index in two heaps. */
  readonly places = [0, 0];
}

/** If the keys are equal, the bucket whose head has waited longer is more urgent. */
function isMoreUrgent<Item, Owner>(
  one: PriorityBucket<Item, Owner>,
  other: PriorityBucket<Item, Owner>,
): boolean {
  if (one.key !== other.key) return one.key < other.key;
  if (one.since !== other.since) return one.since < other.since;
  if (one.moved === undefined) return false;
  return other.moved === undefined || one.order < other.order;
}

/** Several buckets have the same priority only if waiters were moved. */
function isLower<Item, Owner>(
  one: PriorityBucket<Item, Owner>,
  other: PriorityBucket<Item, Owner>,
): boolean {
  if (one.priority !== other.priority) return one.priority < other.priority;
  return isMoreUrgent(one, other);
}

/**
 * Higher priorities first; first in, first out within one. Waiters gain one step of priority every
 * `agingMs`, so that none starves: a waiter of priority p is overtaken only by those of a higher
 * priority q that arrive less than (q - p) x `agingMs` later. All gain alike, so the order of two
 * waiters never changes: they are ordered by `since - priority x agingMs`.
 *
 * Overflow gives up the oldest of the lowest priority, or the newcomer if its priority is lower
 * still. The head may change from one `seek` to the next, when a more urgent waiter has arrived.
 *
 * There is a bucket for each priority in use, and the buckets are in a heap by the key of their
 * heads: a push or shift costs O(log buckets) at most, O(1) with one bucket. Empty buckets are
 * removed, except the last one: a queue that is often empty, with a single priority, costs little
 * more than a `Fifo`.
 *
 * A waiter that is moved to another priority gets a separate bucket, because it may have waited
 * longer than those of that priority: O(log buckets), and a search for the place that it leaves. It
 * goes before waiters of its new priority that arrived at the same time.
 *
 * Cancelled waiters are counted, but their places are unknown: each is skipped when its turn comes,
 * and when they outnumber the others all are swept out. The cost of a sweep is covered by the
 * pushes of the cancelled, so each costs O(1), amortised.
 */
export class PriorityQueue<Item, Owner> implements Queue<Item, Owner> {
  /** Whether a waiter was cancelled, or has moved. */
  private readonly isOut: IsCancelled<Item, Owner>;
  private readonly priorityOf: (item: Item, owner: Owner) => number;
  private readonly agingMs: number;
  private readonly buckets = new Map<number, PriorityBucket<Item, Owner>>();
  private readonly byUrgency = new Heap<PriorityBucket<Item, Owner>>(0, isMoreUrgent);
  private readonly byPriority = new Heap<PriorityBucket<Item, Owner>>(1, isLower);
  /** The buckets of moved waiters; undefined while there are none. */
  private moved: Map<Item, PriorityBucket<Item, Owner>> | undefined = undefined;
  /** The bucket of the last arrival: most arrivals have the same priority as the one before. */
  private latest: PriorityBucket<Item, Owner> | undefined = undefined;
  /** The last removed bucket, for reuse. */
  private spare: PriorityBucket<Item, Owner> | undefined = undefined;
  /** The bucket whose head is the head of the queue. */
  private head: PriorityBucket<Item, Owner>;
  /** The number of items in the queue, including cancelled waiters and places of moved ones. */
  private count = 0;
  /**
   * Counted cancelled waiters that are still in the queue, and places that moved waiters have left.
   * Below 0 if cancelled waiters were removed before they were counted.
   */
  private cancelled = 0;

  /**
   * @throws RangeError if `agingMs` is no number >= 1; `push` throws if a priority is no integer
   */
  constructor(
    isCancelled: IsCancelled<Item, Owner>,
    { priorityOf, agingMs }: PriorityOptions<Item, Owner>,
  ) {
    this.isOut = (item, owner) => item === LEFT || isCancelled(item, owner);
    this.head = new PriorityBucket(this.isOut);
    this.priorityOf = priorityOf;
    checkOrInfinity('agingMs', agingMs, 1);
    this.agingMs = agingMs;
  }

  get length(): number {
    return this.count - this.cancelled;
  }

  push(item: Item, owner: Owner, since: number, reply?: unknown): boolean {
    const priority = this.priorityOf(item, owner);
    const bucket = this.latest?.priority === priority ? this.latest : this.bucketOf(priority);
    bucket.push(item, owner, since, reply);
    this.count += 1;
    if (bucket.length === 1) this.headChanged(bucket);
    // All waiters before it may be cancelled.
    return bucket.length === 1 || this.cancelled !== 0;
  }

  /**
   * Sweeps here and not in `markCancelled`, since a caller that works on the head must not lose it.
   */
  seek(): boolean {
    if (this.cancelled > FEW && this.cancelled > this.length) this.sweep();
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
    const { head, moved } = this;
    if (moved !== undefined && head.moved !== undefined) {
      moved.delete(head.moved);
      moved.set(item, head);
      head.moved = item;
    }
    head.replace(item);
  }

  move(item: Item, { from, to, since, order }: PriorityChange): void {
    let bucket = this.moved?.get(item);
    if (bucket === undefined) {
      const place = this.buckets.get(from)?.leave(item, since, LEFT as Item);
      if (place === undefined) return;
      bucket = new PriorityBucket(this.isOut);
      bucket.push(item, place.owner, place.since, place.reply);
      bucket.moved = item;
      bucket.order = order;
      this.moved ??= new Map();
      this.moved.set(item, bucket);
      this.count += 1;
      this.cancelled += 1;
      bucket.key = Number.POSITIVE_INFINITY;
      this.byUrgency.add(bucket);
      this.byPriority.add(bucket);
    }
    bucket.priority = to;
    this.headChanged(bucket);
  }

  shift(): void {
    const head = this.head;
    if (this.isOut(head.item, head.owner)) this.cancelled -= 1;
    head.shift();
    this.count -= 1;
    this.headChanged(head);
  }

  each(show: ShowWaiter<Item, Owner>): void {
    for (const bucket of this.allBuckets) {
      bucket.each((item, owner, since, reply) => {
        if (item !== LEFT) show(item, owner, since, reply);
      });
    }
  }

  markCancelled(count: number): void {
    this.cancelled += count;
  }

  /**
   * Makes the first uncancelled waiter of a heap's buckets the head; the cancelled before it are
   * removed.
   */
  private turnTo(buckets: Heap<PriorityBucket<Item, Owner>>): boolean {
    while (this.count > 0) {
      const head = buckets.top as PriorityBucket<Item, Owner>;
      this.head = head;
      if (!this.isOut(head.item, head.owner)) return true;
      this.shift();
    }
    return false;
  }

  private sweep(): void {
    for (const bucket of this.allBuckets) {
      const cancelled = bucket.sweep();
      this.count -= cancelled;
      this.cancelled -= cancelled;
      this.headChanged(bucket);
    }
  }

  private get allBuckets(): readonly PriorityBucket<Item, Owner>[] {
    return [...this.buckets.values(), ...(this.moved?.values() ?? [])];
  }

  private bucketOf(priority: number): PriorityBucket<Item, Owner> {
    this.latest = this.buckets.get(priority) ?? this.open(priority);
    return this.latest;
  }

  private open(priority: number): PriorityBucket<Item, Owner> {
    checkInteger('priority', priority, Number.MIN_SAFE_INTEGER);
    const idle = this.count === 0 ? this.byUrgency.top : undefined;
    if (idle !== undefined) this.close(idle);
    const bucket = this.spare ?? new PriorityBucket(this.isOut);
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
      bucket.key = this.keyOf(bucket);
      this.byUrgency.move(bucket);
      if (this.moved !== undefined) this.byPriority.move(bucket);
    } else if (this.count > 0 || bucket.moved !== undefined) {
      this.close(bucket);
    }
  }

  /** Without aging the priority alone counts: equal keys are ordered by arrival. */
  private keyOf({ since, priority }: PriorityBucket<Item, Owner>): number {
    return this.agingMs === Number.POSITIVE_INFINITY ? -priority : since - priority * this.agingMs;
  }

  private close(bucket: PriorityBucket<Item, Owner>): void {
    this.byUrgency.delete(bucket);
    this.byPriority.delete(bucket);
    if (bucket.moved !== undefined) {
      this.moved?.delete(bucket.moved);
      if (this.moved?.size === 0) this.moved = undefined;
      return;
    }
    if (bucket === this.latest) this.latest = undefined;
    this.buckets.delete(bucket.priority);
    this.spare = bucket;
  }
}

/**
 * The queue of a gate. A waiter is an item with an owner and its arrival time by the gate's clock;
 * times never decrease from one push to the next.
 *
 * Waiters may be cancelled in the queue. `markCancelled` counts them, and `seek` skips them or
 * sweeps them out. Only `seek` moves the head: between two calls the head stays the same, whatever
 * is pushed or cancelled.
 */
export interface Queue<Item, Owner> {
  /** How many wait, without the counted cancelled ones. */
  readonly length: number;
  /**
   * @param reply what the owner needs beside the item when its turn comes, if anything
   * @returns false if another waiter, cancelled or not, comes before it. True: `seek` decides
   */
  push(item: Item, owner: Owner, since: number, reply?: unknown): boolean;
  /** Brings the next uncancelled waiter to the head. @returns false if there is none */
  seek(): boolean;
  /**
   * Moves the head to the waiter that is dropped first when too many wait, so that `shift` removes
   * it. A queue without this method drops the one that `seek` finds.
   * @returns false if the newcomer, which is not in the queue yet, must be dropped instead
   */
  seekOldest?(newcomer: Item, owner: Owner): boolean;
  /**
   * The urgency of the head: a lower key is more urgent. Compares the heads of two queues of one
   * kind.
   */
  readonly key: number;
  /** The head, after `seek` or `seekOldest` has found one. */
  readonly item: Item;
  /** The owner of the head. */
  readonly owner: Owner;
  /** Since when the head waits. */
  readonly since: number;
  /** The reply that came with the head. */
  readonly reply: unknown;
  /** Replaces the item of the head. */
  replace(item: Item): void;
  /** Takes the head out. */
  shift(): void;
  /**
   * Shows all places, in any order, those of cancelled waiters too. Nothing may change meanwhile.
   */
  each(show: ShowWaiter<Item, Owner>): void;
  /**
   * Gives a waiter another priority, if it waits here; since when it waits stays. It must not be
   * called while the head is decided on.
   */
  move?(item: Item, change: PriorityChange): void;
  /**
   * Counts waiters that were cancelled since the last call. Each must be counted once, even if the
   * queue has met it before.
   */
  markCancelled(count: number): void;
}

/** Receives a place in a queue. */
export type ShowWaiter<Item, Owner> = (
  item: Item,
  owner: Owner,
  since: number,
  reply: unknown,
) => void;

/** Another priority of a waiter. */
export interface PriorityChange {
  readonly from: number;
  readonly to: number;
  /** Since when it waits, as far as known. */
  readonly since: number;
  /** Its order among waiters that were moved and arrived at the same time. */
  readonly order: number;
}

/** Whether a waiter is cancelled. Must not throw. */
export type IsCancelled<Item, Owner> = (item: Item, owner: Owner) => boolean;

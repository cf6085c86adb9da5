/**
 * Those that wait at a gate, and whose turn it is. What waits is an item, for an owner, since a
 * time of the gate's clock; times never go back from one push to the next.
 *
 * Waiters may die in the queue. They are counted with `bury`, and skipped or swept out by `seek`,
 * which alone moves the head: between a `seek` and the next the head is the same, whatever is
 * pushed or buried.
 */
export interface Queue<Item, Owner> {
  /** How many wait, those that are buried not counted. */
  readonly length: number;
  /**
   * @param reply what the owner needs beside the item when its turn comes, if it does
   * @returns false: its turn comes after that of another, who lives or was not buried yet. True:
   * `seek` knows
   */
  push(item: Item, owner: Owner, since: number, reply?: unknown): boolean;
  /** Brings the living one whose turn it is to the head. @returns false if there is none */
  seek(): boolean;
  /**
   * Brings to the head the living one that is given up first when too many wait, so that `shift`
   * takes it out. A queue without this gives up the one that `seek` finds.
   * @returns false if the newcomer, which is not in the queue yet, is worth less than all of them
   */
  seekOldest?(newcomer: Item, owner: Owner): boolean;
  /** How urgent the head is: less is more urgent. Compares the heads of two queues of one kind. */
  readonly key: number;
  /** The head, after `seek` or `seekOldest` has found one. */
  readonly item: Item;
  /** Whom the head waits for. */
  readonly owner: Owner;
  /** Since when the head waits. */
  readonly since: number;
  /** What came with the head. */
  readonly reply: unknown;
  /** Puts something else in the place of the head. */
  replace(item: Item): void;
  /** Takes the head out. */
  shift(): void;
  /**
   * So many of those that wait have died since the last call. Each is to be counted once, be it that
   * the queue has come upon it before.
   */
  bury(count: number): void;
}

/** Whether a waiter has died. Must not throw. */
export type IsDead<Item, Owner> = (item: Item, owner: Owner) => boolean;

import { checkChoice, checkInteger } from '../../model/check.ts';
import type { Queue } from './queue.ts';

const OVERFLOWS = ['error', 'drop-oldest', 'drop-newest'] as const;

/**
 * Who goes when a newcomer finds the queue full:
 * - `error`: the newcomer, and its sender is told by an error
 * - `drop-newest`: the newcomer, whatever its priority. What was let in stays in.
 * - `drop-oldest`: a waiter, so that the newcomer gets in. First in, first out: the head. By
 *   priority: the oldest of the lowest priority, but the newcomer itself if its own is lower
 *   still.
 */
export type Overflow = (typeof OVERFLOWS)[number];

/** How many may wait in a queue. */
export interface QueueBound {
  /** 0: nobody waits. Infinity: no bound. More than one queue may count for it. */
  readonly maxQueue: number;
  readonly overflow: Overflow;
}

/**
 * What becomes of a newcomer that has to wait:
 * - `room`: push it
 * - `head-goes`: shift the head, which was found for this, and settle it; then ask again
 * - `newcomer-goes`: it does not get in
 */
export type Admission = 'room' | 'head-goes' | 'newcomer-goes';

/** @throws RangeError, TypeError that name the option */
export function queueBound(
  maxQueue: number = Number.POSITIVE_INFINITY,
  overflow: Overflow = 'error',
): QueueBound {
  if (maxQueue !== Number.POSITIVE_INFINITY) checkInteger('maxQueue', maxQueue, 0);
  return { maxQueue, overflow: checkChoice('overflow', overflow, OVERFLOWS) };
}

/**
 * Whether there is room for a newcomer, and who of the queue that it joins makes room. The dead do
 * not count. After the bound was lowered several waiters may have to go: ask until there is room.
 *
 * @param waiting how many wait, where other queues count too
 *
 * It moves the head of the queue, so it must not be asked while somebody works on the head.
 */
export function admit<Item, Owner>(
  queue: Queue<Item, Owner>,
  { maxQueue, overflow }: QueueBound,
  newcomer: Item,
  owner: Owner,
  waiting = queue.length,
): Admission {
  if (waiting < maxQueue) return 'room';
  if (overflow !== 'drop-oldest' || maxQueue === 0) return 'newcomer-goes';
  const found = queue.seekOldest === undefined ? queue.seek() : queue.seekOldest(newcomer, owner);
  return found ? 'head-goes' : 'newcomer-goes';
}

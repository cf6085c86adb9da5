import { checkChoice, checkInteger } from '../model/check.ts';
import { QueueFullError } from '../model/errors.ts';
import type { GateKind } from '../model/outcome.ts';
import { isTicket, type Ticket } from '../model/ticket.ts';
import type { AdmissionCallback } from './admission-callback.ts';
import { notifyAdmitted } from './notify.ts';
import type { Queue } from './queue.ts';

const OVERFLOWS = ['error', 'drop-oldest', 'drop-newest'] as const;

/**
 * Which request goes when a newcomer finds the queue full:
 * - `error`: the newcomer, and its sender is told by an error
 * - `drop-newest`: the newcomer, whatever its priority. What was let in stays in.
 * - `drop-oldest`: a waiter, so that the newcomer gets in. First in, first out: the head. By
 *   priority: the oldest of the lowest priority, but the newcomer itself if its own is lower
 *   still.
 */
export type Overflow = (typeof OVERFLOWS)[number];

/** How many may wait in a queue. */
export interface QueueBound {
  /** 0: nobody waits. Infinity: no bound. */
  readonly maxQueue: number;
  readonly overflow: Overflow;
}

/** @throws RangeError, TypeError that name the option */
export function queueBound(
  maxQueue: number = Number.POSITIVE_INFINITY,
  overflow: Overflow = 'error',
): QueueBound {
  if (maxQueue !== Number.POSITIVE_INFINITY) checkInteger('maxQueue', maxQueue, 0);
  return { maxQueue, overflow: checkChoice('overflow', overflow, OVERFLOWS) };
}

/**
 * What becomes of a newcomer that has to wait:
 * - `room`: push it
 * - `head-goes`: shift the head, which was found for this, and settle it; then ask again
 * - `newcomer-goes`: it does not get in
 */
export type Admission = 'room' | 'head-goes' | 'newcomer-goes';

/**
 * Whether there is room for a newcomer, and which waiter makes room. Cancelled ones do not count.
 * After the bound was lowered several waiters may have to go: ask until there is room.
 *
 * It moves the head of the queue, so it must not be asked while the gate decides on the head.
 * @param waiting how many wait, where other queues count too
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

/** Bounds how many requests wait at a gate. */
export class QueueCapacity {
  bound: QueueBound;
  /** Requests that were turned away or given up so far. */
  dropped = 0;

  constructor(bound: QueueBound) {
    this.bound = bound;
  }

  get isBounded(): boolean {
    return this.bound.maxQueue !== Number.POSITIVE_INFINITY;
  }

  /**
   * Makes room for a newcomer; the oldest of those that wait may have to go. Requests that were sent
   * before count, but neither need this leave nor are given up.
   * @param waiting counts all that wait at the gate
   * @param isHeadBusy whether the gate decides on the head of the queue: then nobody goes
   * @param waitsFor what holds them back
   * @param isTold whether somebody is told of those that go
   * @returns false: the newcomer was refused, or its owner has gone
   */
  makeRoom(
    newcomer: Ticket,
    owner: AdmissionCallback,
    queue: Queue<unknown, AdmissionCallback>,
    waiting: () => number,
    isHeadBusy: boolean,
    waitsFor: GateKind,
    isTold: boolean,
  ): boolean {
    while (!owner.gone) {
      const count = waiting();
      if (count < this.bound.maxQueue) return true;
      if (isHeadBusy || admit(queue, this.bound, newcomer, owner, count) !== 'head-goes') break;
      const { item, owner: oldest } = queue;
      if (!isTicket(item) || item.attempts > 0) break;
      queue.shift();
      oldest.queued -= 1;
      this.drop(item, waitsFor, isTold);
      notifyAdmitted(oldest, item);
    }
    // One that has gone meanwhile was not turned away.
    if (!owner.gone) this.drop(newcomer, waitsFor, isTold);
    return false;
  }

  private drop(ticket: Ticket, gate: GateKind, isTold: boolean): void {
    this.dropped += 1;
    if (isTold) ticket.gaveUpAt = gate;
    ticket.refuse(new QueueFullError(this.bound.maxQueue, gate));
  }
}

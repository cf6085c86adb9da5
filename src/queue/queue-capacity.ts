import { QueueFullError } from '../model/errors.ts';
import type { GateKind } from '../model/outcome.ts';
import { isTicket, type Ticket } from '../model/ticket.ts';
import { checkChoice, checkInteger } from '../util/check.ts';
import { type AdmissionCallback, notifyAdmitted } from './admission-callback.ts';
import type { Queue } from './queue.ts';

const OVERFLOWS = ['error', 'drop-oldest', 'drop-newest'] as const;

/**
 * Which request fails when a newcomer finds the queue full:
 * - `error`: the newcomer, with an error to its sender
 * - `drop-newest`: the newcomer, whatever its priority. Waiting requests stay.
 * - `drop-oldest`: a waiter, so that the newcomer gets in. First in, first out: the head. By
 *   priority: the oldest of the lowest priority, but the newcomer itself if its own is lower
 *   still.
 */
export type Overflow = (typeof OVERFLOWS)[number];

/** How many may wait in a queue. */
export interface QueueBound {
  /** 0: none may wait. Infinity: no bound. */
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
 * What happens to a newcomer that has to wait:
 * - `room`: it enters the queue
 * - `head-goes`: the head, which was found for this, is shifted and settled; then ask again
 * - `newcomer-goes`: it is turned away
 */
export type Admission = 'room' | 'head-goes' | 'newcomer-goes';

/**
 * Decides whether there is room for a newcomer, and which waiter makes room. Cancelled ones do not
 * count. After the bound was lowered several waiters may have to go: ask until there is room.
 *
 * It moves the head of the queue, so it must not be called while the gate decides on the head.
 * @param waiting how many wait, other queues included
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
  /** How many requests were turned away or given up so far. */
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
   * @param isTold whether those that go are reported
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
    // A newcomer whose owner ended meanwhile was not turned away.
    if (!owner.gone) this.drop(newcomer, waitsFor, isTold);
    return false;
  }

  private drop(ticket: Ticket, gate: GateKind, isTold: boolean): void {
    this.dropped += 1;
    if (isTold) ticket.gaveUpAt = gate;
    ticket.refuse(new QueueFullError(this.bound.maxQueue, gate));
  }
}

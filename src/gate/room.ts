import { QueueFullError } from '../model/errors.ts';
import type { Receiver } from '../model/parties.ts';
import { isTicket, type Ticket } from '../model/ticket.ts';
import { handOver } from './handover.ts';
import { admit, type QueueBound } from './queue/bound.ts';
import type { Queue } from './queue/queue.ts';

/** Bounds how many requests wait at a set of gates, all together. */
export class Room {
  bound: QueueBound;
  /** Requests that were turned away or given up so far. */
  dropped = 0;
  private readonly queues: { readonly length: number }[] = [];

  constructor(bound: QueueBound) {
    this.bound = bound;
  }

  /** Those who wait in this queue count from now on. */
  count(queue: { readonly length: number }): void {
    this.queues.push(queue);
  }

  get isBounded(): boolean {
    return this.bound.maxQueue !== Number.POSITIVE_INFINITY;
  }

  get waiting(): number {
    return this.queues.reduce((sum, { length }) => sum + length, 0);
  }

  /**
   * Whether a newcomer may wait in a queue; the oldest of those in it may have to go. A request that
   * waited before, or was sent, is no newcomer, and is not given up where it was sent.
   * @param isHeadBusy somebody works on the head of the queue: nobody goes
   */
  admits(
    newcomer: Ticket,
    receiver: Receiver,
    queue: Queue<unknown, Receiver>,
    isHeadBusy: boolean,
  ): boolean {
    if (newcomer.attempts > 0 || newcomer.hasWaited) return true;
    while (!receiver.gone) {
      const { waiting } = this;
      if (waiting < this.bound.maxQueue) return true;
      if (isHeadBusy || admit(queue, this.bound, newcomer, receiver, waiting) !== 'head-goes')
        break;
      const { item, owner } = queue;
      if (!isTicket(item) || item.attempts > 0) break;
      queue.shift();
      this.drop(item);
      handOver(owner, item);
    }
    // One that has gone meanwhile was not turned away.
    if (!receiver.gone) this.drop(newcomer);
    return false;
  }

  private drop(ticket: Ticket): void {
    this.dropped += 1;
    ticket.refuse(new QueueFullError(this.bound.maxQueue));
  }
}

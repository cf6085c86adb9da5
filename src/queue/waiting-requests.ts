import { isTicket, type Ticket } from '../model/ticket.ts';
import { type AdmissionCallback, reportLater } from './admission-callback.ts';
import { Fifo } from './fifo.ts';
import type { GateRules, Newcomer, RequestQueue } from './gate-rules.ts';

/**
 * The requests that wait at a gate, in two queues: those that were never sent, and retries. Only
 * `next` and `seek` move a head: while a head is decided on, neither may be called for its queue.
 */
export class WaitingRequests {
  /** Requests that were never sent. */
  readonly first: RequestQueue;
  readonly retries: RequestQueue;

  constructor(newQueue: GateRules['newQueue'] = (isCancelled) => new Fifo(isCancelled)) {
    this.first = newQueue(isCancelled);
    this.retries = newQueue(isCancelled);
  }

  get length(): number {
    return this.first.length + this.retries.length;
  }

  /** Whether no request waits. */
  isEmpty(): boolean {
    return !this.first.seek() && !this.retries.seek();
  }

  /** The queue whose head is next; undefined if none waits. */
  next(): RequestQueue | undefined {
    const isWaiting = this.first.seek();
    if (!this.retries.seek()) return isWaiting ? this.first : undefined;
    return isWaiting && this.first.key < this.retries.key ? this.first : this.retries;
  }

  queueOf(owner: AdmissionCallback): RequestQueue {
    return owner.isRetry === true ? this.retries : this.first;
  }

  /**
   * How long the request has waited that is next in its queue, in ms; of both queues the longer one.
   * @param isDeciding whether a head is decided on, so that no head may be moved
   */
  longestWaitMs(now: number, isDeciding: boolean): number {
    const waitOf = (queue: RequestQueue) => {
      const isWaiting = isDeciding ? queue.length > 0 : queue.seek();
      return isWaiting ? Math.max(0, now - sinceOf(queue)) : 0;
    };
    return Math.max(waitOf(this.first), waitOf(this.retries));
  }

  /** Gives requests another priority; those that wait here keep their time of arrival. */
  setPriority(
    requests: readonly { readonly ticket: Ticket; readonly order: number }[],
    priority: number,
  ): void {
    for (const { ticket, order } of requests) {
      const from = ticket.priority;
      ticket.priority = priority;
      if (from === priority || Number.isNaN(ticket.waitsSince)) continue;
      const isRetry = ticket.attempts > 0;
      const queue = isRetry ? this.retries : this.first;
      // Retries are not in the order of their arrival.
      const since = isRetry ? Number.NaN : ticket.waitsSince;
      queue.move?.(ticket, { from, to: priority, since, order });
    }
  }

  /**
   * Takes out each request for which there is an error; the others keep their places.
   * @param taken is called for each one at once; must not throw
   */
  takeOut(
    errorOf: (waiter: Newcomer) => Error | undefined,
    taken: (ticket: Ticket, owner: AdmissionCallback, error: Error, isRetry: boolean) => void,
  ): void {
    for (const queue of [this.first, this.retries]) {
      const kept: [item: unknown, owner: AdmissionCallback, since: number, reply: unknown][] = [];
      for (let left = queue.length; left > 0 && queue.seek(); left -= 1) {
        const { item, owner, since, reply } = queue;
        const error = errorOf(isTicket(item) ? item : owner);
        if (error === undefined) {
          kept.push([item, owner, since, reply]);
          queue.shift();
          continue;
        }
        const ticket = headTicket(queue);
        if (ticket === undefined) continue;
        queue.shift();
        owner.queued -= 1;
        taken(ticket, owner, error, queue === this.retries);
      }
      // In the order of their turns, which is that of their arrival within one priority.
      for (const [item, owner, since, reply] of kept) queue.push(item, owner, since, reply);
    }
  }
}

/** The ticket of the head, made now if it has none. Undefined if it cannot be made. */
export function headTicket(queue: RequestQueue): Ticket | undefined {
  const { item, owner } = queue;
  if (isTicket(item)) return item;
  try {
    const ticket = owner.ticketOf?.(item, queue.since, queue.reply);
    if (ticket === undefined) return undefined;
    ticket.waitsSince = queue.since;
    // Refused when it was made: in the queue it would count as cancelled, and its owner would not
    // be called.
    if (ticket.refusal === undefined) queue.replace(ticket);
    return ticket;
  } catch (error) {
    reportLater(error);
    return undefined;
  }
}

/** Since when the head of a queue waits. */
function sinceOf({ item, since }: RequestQueue): number {
  return isTicket(item) ? item.waitsSince : since;
}

/**
 * A waiting ticket that was settled is not cancelled here: its owner counts it and must be called. A
 * waiting ticket that was refused is cancelled: its owner was called.
 */
export function isCancelled(item: unknown, owner: AdmissionCallback): boolean {
  return owner.gone || (isTicket(item) && item.refusal !== undefined);
}

/** The priority of a request that waits, with a ticket or without. */
export function priorityOf(item: unknown, owner: AdmissionCallback): number {
  return isTicket(item) ? item.priority : (owner.priority ?? 0);
}

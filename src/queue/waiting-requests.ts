import type { Instrumentation } from '../model/instrumentation.ts';
import { isTicket, type Ticket } from '../model/ticket.ts';
import { Fifo } from './fifo.ts';
import type { IsCancelled, Queue } from './queue.ts';

/** Brings requests to a gate, and is called when they may pass. */
export interface AdmissionCallback {
  /** Whether it has ended, and with it all its requests in queues. */
  readonly gone: boolean;
  /** How many of its requests are in the queue of a gate. Starts at 0; only the gate changes it. */
  queued: number;
  /** Whether its requests were sent before, so that they keep their slot and bytes. */
  readonly isRetry?: boolean;
  /**
   * Makes the ticket of an item that waited without one.
   * @param reply the reply that came with the item, if any
   * @returns undefined if that fails; then the owner has ended
   */
  ticketOf?(item: unknown, arrivedAt: number, reply?: unknown): Ticket | undefined;
  /** The request may pass, or was refused for good. */
  admitted(ticket: Ticket): void;
  /** The priority of an item that waits without a ticket; the highest goes first. Default 0. */
  readonly priority?: number;
  /** Whether its requests are calls of a limiter. Default false: they are those of a stream. */
  readonly isCall?: boolean;
  /** Receives the waits of its requests at a gate that several owners share. */
  readonly instrumentation?: Instrumentation | undefined;
}

/** Whether a request that arrives is a call of a limiter. */
export type Newcomer = Pick<AdmissionCallback, 'isCall'>;

/** The queue of a gate: tickets, or items whose tickets are made when their turn comes. */
export type RequestQueue = Queue<unknown, AdmissionCallback>;

/** Creates a queue of a gate. */
export type NewQueue = (isCancelled: IsCancelled<unknown, AdmissionCallback>) => RequestQueue;

/**
 * The requests that wait at a gate, in two queues: those that were never sent, and retries. Only
 * `next` and `seek` move a head: while a head is decided on, neither may be called for its queue.
 */
export class WaitingRequests {
  /** Requests that were never sent. */
  readonly first: RequestQueue;
  readonly retries: RequestQueue;

  constructor(newQueue: NewQueue = (isCancelled) => new Fifo(isCancelled)) {
    this.first = newQueue(isCancelled);
    this.retries = newQueue(isCancelled);
  }

  get length(): number {
    return this.first.length + this.retries.length;
  }

  /** Whether retries wait, and no request that was never sent. */
  get areRetries(): boolean {
    return this.first.length === 0 && this.retries.length > 0;
  }

  /** Whether no request waits. */
  isEmpty(): boolean {
    return !this.first.seek() && !this.retries.seek();
  }

  /** The queue whose head is the next request; undefined if none waits. */
  next(): RequestQueue | undefined {
    const isWaiting = this.first.seek();
    if (!this.retries.seek()) return isWaiting ? this.first : undefined;
    return isWaiting && this.first.key < this.retries.key ? this.first : this.retries;
  }

  queueOf(owner: AdmissionCallback): RequestQueue {
    return owner.isRetry === true ? this.retries : this.first;
  }

  /**
   * How long the head of a queue has waited, in ms: the longer wait of the heads of both queues.
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
    isRetryOf: (ticket: Ticket) => boolean,
  ): void {
    for (const { ticket, order } of requests) {
      const from = ticket.priority;
      ticket.priority = priority;
      if (from === priority || !ticket.isQueued) continue;
      const isRetry = isRetryOf(ticket);
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
    taken: (ticket: Ticket, owner: AdmissionCallback, error: Error) => void,
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
        taken(ticket, owner, error);
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
    // A ticket that was refused when it was made is not put into the queue: it would count as
    // cancelled there, and its owner would not be called.
    if (ticket.refusal === undefined) queue.replace(ticket);
    return ticket;
  } catch (error) {
    reportLater(error);
    return undefined;
  }
}

/**
 * Since when the head of a queue waits. Its ticket has no such time while listeners are called for
 * its wait.
 */
function sinceOf({ item, since }: RequestQueue): number {
  return isTicket(item) && Number.isFinite(item.waitsSince) ? item.waitsSince : since;
}

/**
 * A waiting ticket that was settled is not cancelled here: its owner counts it and must be called.
 * A waiting ticket that was refused is cancelled: its owner was called.
 */
function isCancelled(item: unknown, owner: AdmissionCallback): boolean {
  return owner.gone || (isTicket(item) && item.refusal !== undefined);
}

/** The priority of a request that waits, with a ticket or without. */
export function priorityOf(item: unknown, owner: AdmissionCallback): number {
  return isTicket(item) ? item.priority : (owner.priority ?? 0);
}

/**
 * Calls an owner. Its error must neither stop a queue nor reach the code that gave a lease back.
 */
export function notifyAdmitted(owner: AdmissionCallback, ticket: Ticket): void {
  try {
    owner.admitted(ticket);
  } catch (error) {
    reportLater(error);
  }
}

/** Throws the error in a separate turn, in which it interrupts no other work. */
function reportLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

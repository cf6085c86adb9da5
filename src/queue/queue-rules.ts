import { DeadlineExceededError, WaitTimeoutError } from '../model/errors.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Ticket, WaitTimeout } from '../model/ticket.ts';
import type { Clock } from '../util/clock.ts';
import { type Timed, Timeouts } from '../util/timers.ts';
import type { Queue } from './queue.ts';
import type { AdmissionCallback, NewQueue } from './waiting-requests.ts';

/**
 * Which request fails when a newcomer finds the queue full:
 * - `error`: the newcomer, with an error to its sender
 * - `drop-newest`: the newcomer, whatever its priority. Waiting requests stay.
 * - `drop-oldest`: a waiter, so that the newcomer gets in. First in, first out: the head. By
 *   priority: the oldest of the lowest priority, but the newcomer itself if its own is lower
 *   still.
 */
export type Overflow = 'error' | 'drop-oldest' | 'drop-newest';

/** How many may wait in a queue. */
export interface QueueBound {
  /** 0: none may wait. Infinity: no bound. */
  readonly maxQueue: number;
  readonly overflow: Overflow;
}

/**
 * Finds the waiter that is dropped so that a newcomer gets into a full queue, and makes it the head.
 * Cancelled ones do not count. It moves the head, so it must not be called while the gate decides on
 * it.
 * @returns false if the newcomer must be dropped instead
 */
export function seekDropped<Item, Owner>(
  queue: Queue<Item, Owner>,
  { maxQueue, overflow }: QueueBound,
  newcomer: Item,
  owner: Owner,
): boolean {
  if (overflow !== 'drop-oldest' || maxQueue === 0) return false;
  return queue.seekOldest === undefined ? queue.seek() : queue.seekOldest(newcomer, owner);
}

/** Bounds how many requests wait at a gate. */
export class QueueCapacity {
  bound: QueueBound;
  /** Whether there is a bound. A field, because it is read for each request. */
  isBounded: boolean;
  /** How many requests were refused or dropped so far. */
  dropped = 0;

  constructor(bound: QueueBound) {
    this.bound = bound;
    this.isBounded = bound.maxQueue !== Number.POSITIVE_INFINITY;
  }

  configure(bound: QueueBound): void {
    this.bound = bound;
    this.isBounded = bound.maxQueue !== Number.POSITIVE_INFINITY;
  }
}

/** A gate that can end the wait of a single request. */
interface Expelling {
  readonly waitKind: GateKind;
  expel(ticket: Ticket, owner: AdmissionCallback, error: Error): void;
}

/** A waiting request that was not sent yet. */
class Waiter implements WaitTimeout, Timed {
  before: Timed | undefined = undefined;
  after: Timed | undefined = undefined;
  readonly #ticket: Ticket;
  readonly #gate: Expelling;
  readonly #owner: AdmissionCallback;
  readonly #timeouts: WaitTimeouts;

  constructor(ticket: Ticket, gate: Expelling, owner: AdmissionCallback, timeouts: WaitTimeouts) {
    this.#ticket = ticket;
    this.#gate = gate;
    this.#owner = owner;
    this.#timeouts = timeouts;
  }

  get startedAt(): number {
    return this.#ticket.arrivedAt;
  }

  end(): void {
    this.#timeouts.ended(this);
  }

  timedOut(): void {
    const error = this.#timeouts.errorAt(this.#gate.waitKind);
    this.#gate.expel(this.#ticket, this.#owner, error);
  }
}

/** Ends the wait of requests that were not sent within a time from their arrival. */
export class WaitTimeouts {
  /** Whether any request has a timeout. A field, because it is read for each request. */
  isOn: boolean;
  readonly #timeouts: Timeouts;
  #waitTimeoutMs: number;
  readonly #deadlineMs: number;

  /**
   * @param waitTimeoutMs Infinity: no request is timed out
   * @param deadlineMs how long requests may take in all, which ends their wait too; Infinity: no
   * bound
   */
  constructor(waitTimeoutMs: number, clock: Clock, deadlineMs = Number.POSITIVE_INFINITY) {
    this.#waitTimeoutMs = waitTimeoutMs;
    this.#deadlineMs = deadlineMs;
    this.#timeouts = new Timeouts(Math.min(waitTimeoutMs, deadlineMs), clock, true);
    this.isOn = this.#timeouts.timeoutMs !== Number.POSITIVE_INFINITY;
  }

  /** A request that was not sent yet starts to wait at a gate. */
  wait(ticket: Ticket, gate: Expelling, owner: AdmissionCallback, now: number): void {
    if (!this.isOn) return;
    const waiter = new Waiter(ticket, gate, owner, this);
    ticket.waitTimeout = waiter;
    this.#timeouts.started(waiter, now);
  }

  /**
   * Changes the timeout, also for waiting requests. If there was none before, only for newcomers.
   */
  configure(waitTimeoutMs: number): void {
    this.#waitTimeoutMs = waitTimeoutMs;
    this.#timeouts.configure(Math.min(waitTimeoutMs, this.#deadlineMs));
    this.isOn = this.#timeouts.timeoutMs !== Number.POSITIVE_INFINITY;
  }

  /** A request waits no longer. */
  ended(waiter: Timed): void {
    this.#timeouts.ended(waiter);
  }

  errorAt(waitKind: GateKind): Error {
    const waitTimeoutMs = this.#waitTimeoutMs;
    const deadlineMs = this.#deadlineMs;
    if (deadlineMs <= waitTimeoutMs) return new DeadlineExceededError(deadlineMs, 'waiting');
    return new WaitTimeoutError(waitTimeoutMs, waitKind);
  }
}

/** How the requests of a gate wait: how many, how long, and in which order. */
export interface QueueRules {
  readonly capacity: QueueCapacity;
  readonly timeouts: WaitTimeouts;
  /** Creates the queues. Default: first in, first out. */
  readonly newQueue?: NewQueue | undefined;
}

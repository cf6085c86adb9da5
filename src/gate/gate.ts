import type { Core } from '../core/core.ts';
import type { Clock, Timer } from '../model/clock.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Probe } from '../model/probe.ts';
import { type Lender, type Receiver, Ticket } from '../model/ticket.ts';
import { Fifo } from './fifo.ts';

/** What every gate tells of its queue, beside what its core tells. */
export interface GateSnapshot {
  /** Requests in the queue. */
  readonly waiting: number;
  /** How long the first of them has been waiting, in ms; 0 if nobody waits. */
  readonly longestWaitMs: number;
}

/** Deadlines that differ by less are the same but for rounding. */
const SAME_MS = 1e-3;

/**
 * A place where requests wait until the core lets them pass, first come first served: a newcomer
 * never overtakes a waiter. What a request takes is reserved before anyone is told.
 *
 * One timer at the most, armed only while somebody waits and time alone can help.
 */
export class Gate<C extends Core = Core> implements Lender {
  readonly kind: GateKind;
  readonly core: C;
  readonly #clock: Clock;
  readonly #probe: Probe | undefined;
  readonly #queue = new Fifo<unknown, Receiver>(isDead);
  #draining = false;
  /** How often the head of the queue was asked and told to wait on. */
  #headRounds = 0;
  #timer: Timer | undefined;
  #timerAt = 0;

  constructor(kind: GateKind, core: C, clock: Clock, probe?: Probe) {
    this.kind = kind;
    this.core = core;
    this.#clock = clock;
    this.#probe = probe;
  }

  snapshot(): GateSnapshot & ReturnType<C['snapshot']> {
    const now = this.#clock.now();
    const longestWaitMs = this.#queue.seek() ? now - this.#queue.since : 0;
    const core = this.core.snapshot(now) as ReturnType<C['snapshot']>;
    return { waiting: this.#queue.length, longestWaitMs, ...core };
  }

  /**
   * A request that has its ticket already.
   * @returns true: it has passed. False: it waits, and `receiver` will be told.
   */
  enter(ticket: Ticket, receiver: Receiver): boolean {
    const now = this.#clock.now();
    if (this.#isFree && this.#try(ticket, now)) return true;
    this.#queue.push(ticket, receiver, now);
    this.#probe?.queued?.(ticket, this.kind);
    // Gone while the probe was told: it has not counted this request among those that left.
    if (receiver.gone) this.left(1);
    return false;
  }

  /**
   * A request that gets its ticket when its turn comes: until then it costs no more than its place
   * in the queue.
   * @returns the ticket, if the request has passed. Undefined: it waits, and `receiver` will be told.
   */
  enterLater(item: unknown, receiver: Receiver): Ticket | undefined {
    const now = this.#clock.now();
    if (!this.#isFree) {
      this.#queue.push(item, receiver, now);
      return undefined;
    }
    const ticket = receiver.ticketOf?.(item, now);
    if (ticket === undefined) return undefined;
    // Making the ticket calls the user's estimator, which may have sent others here meanwhile.
    if (this.#isFree && this.#try(ticket, now)) return ticket;
    this.#queue.push(ticket, receiver, now);
    return undefined;
  }

  /** Whether somebody is told what happens here: then each request needs its ticket at once. */
  get isWatched(): boolean {
    return this.#probe !== undefined;
  }

  giveBack(charge: number): void {
    this.core.giveBack(charge);
    this.drain();
  }

  /** So many of those that wait have just gone, with their receiver. */
  left(count: number): void {
    if (count === 0) return;
    if (this.#queue.length > 0 && this.#queue.owner.gone) this.#headRounds = 0;
    this.#queue.bury(count);
    this.drain();
  }

  /**
   * Lets pass whoever may. Called when something was given back, a limit was changed, time has
   * passed, or somebody left. Called from within itself, it leaves the work to the loop.
   */
  drain(): void {
    if (this.#draining) return;
    this.#draining = true;
    try {
      while (this.#queue.seek()) {
        const ticket = this.#head();
        if (ticket === undefined) continue;
        const now = this.#clock.now();
        const wait = ticket.outcome === undefined ? this.core.wait(ticket, now) : 0;
        if (wait > 0) {
          this.#queue.replace(ticket);
          this.#headRounds += 1;
          this.#arm(wait, now);
          return;
        }
        this.#pass(ticket, now);
      }
      this.#disarm();
    } finally {
      this.#draining = false;
    }
  }

  /** The ticket of the head, made now if it has none. Undefined: the head could not be had. */
  #head(): Ticket | undefined {
    const { item, owner, since } = this.#queue;
    if (item instanceof Ticket) return item;
    try {
      return owner.ticketOf?.(item, since);
    } catch (error) {
      reportLater(error);
      return undefined;
    }
  }

  #pass(ticket: Ticket, now: number): void {
    const { owner, since } = this.#queue;
    const rounds = 1 + this.#headRounds;
    this.#headRounds = 0;
    if (ticket.outcome === undefined) {
      this.#admit(ticket, now);
      ticket.waited(this.kind, now - since, rounds);
      this.#probe?.admitted?.(ticket, this.kind, now - since, rounds);
    }
    // Gone while the probe was told: it has counted this request among those that left.
    if (owner.gone) return;
    this.#queue.shift();
    try {
      owner.admitted(ticket);
    } catch (error) {
      reportLater(error);
    }
  }

  /** Whether nobody is before a newcomer. */
  get #isFree(): boolean {
    return !this.#draining && !this.#queue.seek();
  }

  /** Lets a newcomer pass, if it may. */
  #try(ticket: Ticket, now: number): boolean {
    const wait = this.core.wait(ticket, now);
    if (wait > 0) {
      this.#arm(wait, now);
      return false;
    }
    this.#admit(ticket, now);
    this.#probe?.admitted?.(ticket, this.kind, 0, 0);
    return true;
  }

  #admit(ticket: Ticket, now: number): void {
    const charge = this.core.take(ticket, now);
    if (charge !== 0) ticket.lend(this, charge);
  }

  #arm(waitMs: number, now: number): void {
    const at = now + waitMs;
    if (this.#timer !== undefined && Math.abs(this.#timerAt - at) < SAME_MS) return;
    this.#disarm();
    if (waitMs === Number.POSITIVE_INFINITY) return;
    this.#timerAt = at;
    this.#timer = this.#clock.setTimer(() => {
      this.#timer = undefined;
      this.drain();
    }, waitMs);
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}

/** A receiver's error must neither stop the queue nor reach whoever gave something back. */
function reportLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

/** A ticket that was settled while it waits is not: its receiver, which counts it, must be told. */
function isDead(_item: unknown, receiver: Receiver): boolean {
  return receiver.gone;
}

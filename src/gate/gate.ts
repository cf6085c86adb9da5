import { type Core, REFUSED } from '../core/core.ts';
import type { Clock } from '../model/clock.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Receiver } from '../model/parties.ts';
import type { Probe } from '../model/probe.ts';
import { isTicket, type Ticket } from '../model/ticket.ts';
import type { Room } from './room.ts';
import type { Door, GateRules } from './rules.ts';
import type { Timeouts } from './timeouts.ts';
import { isDead, WaitingLine } from './waiting-line.ts';

/** What every gate tells of its queue, beside what its core tells. */
export interface GateSnapshot {
  /** Requests in the queue. */
  readonly waiting: number;
  /** How long the first of them has been waiting, in ms; 0 if nobody waits. */
  readonly longestWaitMs: number;
  /** Until the first is asked again, in ms, where time alone can help; else undefined. */
  readonly nextInMs: number | undefined;
}

const NO_RULES: GateRules = {};

/**
 * A place where requests wait until the core lets them pass, first come first served unless its
 * queue has another order: a newcomer never overtakes a waiter of its own priority.
 */
export class Gate<C extends Core = Core> extends WaitingLine<C> {
  private readonly room: Room | undefined;
  private readonly timeouts: Timeouts | undefined;
  private readonly door: Door | undefined;

  constructor(kind: GateKind, core: C, clock: Clock, probe?: Probe, rules: GateRules = NO_RULES) {
    super(kind, core, clock, probe, rules);
    const { room, timeouts, door } = rules;
    this.room = room;
    this.timeouts = timeouts;
    this.door = door;
    room?.count(this.queue);
  }

  snapshot(): GateSnapshot & ReturnType<C['snapshot']> {
    const now = this.clock.now();
    const waits = this.busy ? this.queue.length > 0 : this.queue.seek();
    const longestWaitMs = waits ? Math.max(0, now - this.queue.since) : 0;
    const leftMs = this.waker.at - now;
    const nextInMs = waits && leftMs < Number.POSITIVE_INFINITY ? Math.max(0, leftMs) : undefined;
    const core = this.core.snapshot(now) as ReturnType<C['snapshot']>;
    return { waiting: this.queue.length, longestWaitMs, nextInMs, ...core };
  }

  /** Whether each request needs its ticket at once, since somebody minds who waits here. */
  get needsTickets(): boolean {
    return (
      this.probe !== undefined || this.timeouts?.isOn === true || this.room?.isBounded === true
    );
  }

  /**
   * A request that has its ticket already.
   * @returns true: it has passed, or was refused. False: it waits, and `receiver` will be told.
   */
  enter(ticket: Ticket, receiver: Receiver): boolean {
    if (this.isTurnedAway(ticket)) return true;
    // Clocks are slow: whoever let the ticket pass in this turn has just read it.
    const now = Number.isNaN(ticket.readAt) ? this.clock.now() : ticket.readAt;
    if (this.isFree() && this.try(ticket, now)) return true;
    return this.wait(ticket, receiver, now) !== undefined;
  }

  /** The same for one that will not wait. @returns whether it has passed; if not, nothing is done */
  tryEnter(ticket: Ticket): boolean {
    if (this.isTurnedAway(ticket) || !this.isFree()) return false;
    const now = this.clock.now();
    const wait = this.ask(ticket, now);
    if (wait === 0) this.admit(ticket, now);
    else if (wait === REFUSED) this.refuse(ticket, now);
    this.leaveTo(now);
    return wait === 0;
  }

  /**
   * A request that gets its ticket when its turn comes: until then it costs no more than its place
   * in the queue.
   * @param reply what the receiver needs beside the item to make the ticket, if it does
   * @returns the ticket, if the request has passed. Undefined: it waits, and `receiver` will be told.
   */
  enterLater(item: unknown, receiver: Receiver, reply?: unknown): Ticket | undefined {
    const now = this.clock.now();
    const error = this.door?.turnsAway();
    if (error === undefined && !this.isFree()) return this.wait(item, receiver, now, reply);
    const ticket = receiver.ticketOf?.(item, now, reply);
    if (error !== undefined) ticket?.refuse(error);
    if (ticket === undefined || ticket.refusal !== undefined) return ticket;
    // Making the ticket calls the user's estimator, which may have sent others here meanwhile.
    if (this.isFree() && this.try(ticket, now)) return ticket;
    return this.wait(ticket, receiver, now);
  }

  /** A refused request passes for nothing; a newcomer may be refused before it waits. */
  private isTurnedAway(ticket: Ticket): boolean {
    if (this.door !== undefined && ticket.attempts === 0) {
      const error = this.door.turnsAway();
      if (error !== undefined) ticket.refuse(error);
    }
    return ticket.refusal !== undefined;
  }

  /** Lets a newcomer pass, if it may. */
  private try(ticket: Ticket, now: number): boolean {
    const wait = this.ask(ticket, now);
    if (wait > 0) {
      // Others may have come while the core was asked: they are before this one, and not asked yet.
      this.waker.set(this.queue.length === 0 ? wait : 0, now);
      return false;
    }
    this.admitOrRefuse(ticket, now, wait);
    this.leaveTo(now);
    return true;
  }

  /** A newcomer is done with: others may have come while the core was asked, and not been asked yet. */
  private leaveTo(now: number): void {
    if (this.queue.length > 0) this.waker.set(0, now);
    else if (this.mindsIdle) this.core.idle?.();
  }

  /** @returns its ticket, if it was refused after all, or is so urgent that it has passed */
  private wait(
    item: unknown,
    receiver: Receiver,
    now: number,
    reply?: unknown,
  ): Ticket | undefined {
    const room = this.room;
    const ticket = isTicket(item) ? item : undefined;
    if (ticket !== undefined && room !== undefined) {
      const { dropped } = room;
      if (!room.admits(ticket, receiver, this.queue, this.busy)) {
        if (this.queue.length === 0) this.noneWaits();
        return ticket;
      }
      if (room.dropped !== dropped) {
        // The head has gone: the next may need less than that, and the newcomer too.
        this.drain();
        if (this.isFree() && this.try(ticket, now)) return ticket;
      }
    }
    const mayBeNext = this.queue.push(item, receiver, now, reply);
    const urgent = mayBeNext ? this.tryUrgent(item, receiver, now) : undefined;
    if (urgent !== undefined) return urgent;
    if (ticket !== undefined) {
      this.timeouts?.wait(ticket, this, receiver);
      if (this.probe !== undefined) this.tellQueued(ticket, this.probe, now);
    }
    // Gone while others were asked or told: it has not counted this request among those that left.
    if (receiver.gone) this.left(1);
    return undefined;
  }

  /** Meanwhile it neither passes nor is given up: its receiver does not know yet that it waits. */
  private tellQueued(ticket: Ticket, probe: Probe, now: number): void {
    const { length } = this.queue;
    const wasDraining = this.draining;
    const wasBusy = this.busy;
    const hadMissed = this.missed;
    if (!wasBusy) this.queue.seek();
    this.draining = true;
    this.busy = true;
    this.missed = false;
    probe.queued?.(ticket, this.waitKind);
    this.busy = wasBusy;
    this.draining = wasDraining;
    if (this.missed || this.queue.length !== length) this.waker.set(0, now);
    // The core may be asked for another, who came before: that one is asked again.
    this.missed ||= hadMissed;
  }

  /** A newcomer that has become the head of those that wait need not wait for them. */
  private tryUrgent(item: unknown, receiver: Receiver, now: number): Ticket | undefined {
    if (this.draining || this.asking || !this.queue.seek()) return undefined;
    // Others may wait with the same item: those of the same receiver are all the same to it.
    if (this.queue.item !== item || this.queue.owner !== receiver) return undefined;
    this.draining = true;
    this.busy = true;
    try {
      const ticket = this.head();
      if (ticket === undefined) return undefined;
      if (ticket.refusal !== undefined) {
        this.queue.shift();
        return ticket;
      }
      const others = this.queue.length - 1;
      const wait = this.ask(ticket, now);
      if (wait > 0 || isDead(ticket, this.queue.owner)) {
        this.waker.set(this.queue.length - 1 === others && wait > 0 ? wait : 0, now);
        return undefined;
      }
      // Its receiver does not count it among those that wait yet.
      this.queue.shift();
      this.busy = false;
      this.admitOrRefuse(ticket, now, wait);
      if (this.queue.length === 0) this.noneWaits();
      else this.core.overtaken?.();
      // Whoever came or was let go meanwhile was left to us.
      if (this.missed || this.queue.length !== others) this.waker.set(0, now);
      return ticket;
    } finally {
      this.busy = false;
      this.draining = false;
    }
  }

  /** Lets a newcomer pass that need not wait, or never may. */
  private admitOrRefuse(ticket: Ticket, now: number, wait: number): void {
    if (wait === REFUSED) this.refuse(ticket, now);
    else this.admit(ticket, now);
    this.probe?.admitted?.(ticket, this.kind, 0, 0);
  }
}

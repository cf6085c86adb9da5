import { type Core, REFUSED } from '../core/core.ts';
import type { Clock } from '../model/clock.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Lender, Receiver } from '../model/parties.ts';
import type { Probe } from '../model/probe.ts';
import { isTicket, type Ticket } from '../model/ticket.ts';
import { Fifo } from './fifo.ts';
import { handOver, reportLater } from './handover.ts';
import type { Queue } from './queue/queue.ts';
import type { GateRules, WaitListener } from './rules.ts';
import { Waker } from './waker.ts';

/**
 * Those that wait at a gate, and the core that lets them pass. What a request takes is reserved
 * before anyone is told.
 *
 * One timer at the most, armed only while somebody waits and time alone can help.
 */
export abstract class WaitingLine<C extends Core = Core> implements Lender {
  readonly kind: GateKind;
  readonly core: C;
  listener: WaitListener | undefined = undefined;
  protected readonly clock: Clock;
  protected readonly probe: Probe | undefined;
  protected readonly queue: Queue<unknown, Receiver>;
  protected readonly waker: Waker;
  /** Whether a newcomer may be the next. */
  protected readonly hasOrder: boolean;
  /** Whether the core wants to know that nobody waits: few do. */
  protected readonly mindsIdle: boolean;
  protected draining = false;
  /** The core is being asked, which may wake other gates; what they do here meanwhile is missed. */
  protected asking = false;
  protected missed = false;
  /** Somebody works on the head, and may call what comes back here: it must stay the head. */
  protected busy = false;

  constructor(kind: GateKind, core: C, clock: Clock, probe: Probe | undefined, rules: GateRules) {
    this.kind = kind;
    this.core = core;
    this.clock = clock;
    this.probe = probe;
    this.hasOrder = rules.newQueue !== undefined;
    this.mindsIdle = core.idle !== undefined;
    this.queue = rules.newQueue?.(isDead) ?? new Fifo(isDead);
    this.waker = new Waker(clock, () => this.drain());
  }

  get waiting(): number {
    return this.queue.length;
  }

  /** What the requests in the queue wait for. */
  get waitKind(): GateKind {
    return this.core.binding ?? this.kind;
  }

  giveBack(charge: unknown, ticket: Ticket): void {
    this.core.giveBack(charge, ticket, this.clock);
    this.drain();
  }

  /** So many of those that wait have just gone, with their receiver. */
  left(count: number): void {
    if (count === 0) return;
    this.queue.bury(count);
    this.drain();
  }

  /** Ends the wait of one request, for nothing. */
  expel(ticket: Ticket, receiver: Receiver, error: Error): void {
    ticket.refuse(error);
    this.queue.bury(1);
    // Before others pass, who may make it leave: it has left already.
    handOver(receiver, ticket);
    this.drain();
  }

  /**
   * Lets pass whoever may. Called when something was given back, a limit was changed, time has
   * passed, or somebody left. Called from within itself, it leaves the work to the loop.
   */
  drain(): void {
    if (this.draining || this.asking) {
      this.missed = true;
      return;
    }
    this.draining = true;
    try {
      while (this.queue.seek() || this.noneWaits()) {
        this.busy = true;
        const ticket = this.head();
        if (ticket === undefined) continue;
        if (this.core.isFull && ticket.outcome === undefined && !isDead(ticket, this.queue.owner)) {
          ticket.rounds += 1;
          this.waker.cancel();
          return;
        }
        const now = this.clock.now();
        if (ticket.refusal !== undefined) {
          this.pass(ticket, now, ticket.refusal);
          continue;
        }
        const wait = ticket.outcome === undefined ? this.ask(ticket, now) : 0;
        if (wait > 0) {
          // Gone while the core was asked: it is no longer the head.
          if (isDead(ticket, this.queue.owner)) {
            this.busy = false;
            continue;
          }
          ticket.rounds += 1;
          this.waker.set(wait, now);
          this.busy = false;
          // Somebody more urgent may have come while the core was asked.
          if (this.hasOrder && this.queue.seek() && this.queue.item !== ticket) continue;
          return;
        }
        this.pass(ticket, now, wait === REFUSED ? this.refusalOf(ticket, now) : undefined);
      }
    } finally {
      this.busy = false;
      this.draining = false;
    }
  }

  /** The ticket of the head, made now if it has none. Undefined: the head could not be had. */
  protected head(): Ticket | undefined {
    const { item, owner } = this.queue;
    if (isTicket(item)) return item;
    try {
      const ticket = owner.ticketOf?.(item, this.queue.since, this.queue.reply);
      // Refused from its making: in the queue it would be dead, and not be told.
      if (ticket !== undefined && ticket.refusal === undefined) this.queue.replace(ticket);
      return ticket;
    } catch (error) {
      reportLater(error);
      return undefined;
    }
  }

  private pass(ticket: Ticket, now: number, refusal: Error | undefined): void {
    const { owner, since } = this.queue;
    const rounds = 1 + ticket.rounds;
    ticket.rounds = 0;
    if (ticket.outcome === undefined) {
      const { waitKind } = this;
      const waitMs = Math.max(0, now - since);
      if (refusal === undefined) this.admit(ticket, now);
      ticket.waited(waitKind, waitMs, rounds);
      this.probe?.admitted?.(ticket, waitKind, waitMs, rounds);
      this.listener?.waited(waitKind, waitMs, rounds);
    }
    // Gone while others were told: it has counted this request among those that left.
    if (owner.gone) return;
    this.queue.shift();
    this.busy = false;
    // Not before: what was refused in the queue is dead there, and somebody else has buried it.
    if (refusal !== undefined) ticket.refuse(refusal);
    handOver(owner, ticket);
  }

  /** Whether nobody is before a newcomer. No getter: V8 goes through its runtime for a private one. */
  protected isFree(): boolean {
    return !this.draining && !this.asking && !this.queue.seek();
  }

  /** Asks again where something was given back meanwhile. */
  protected ask(ticket: Ticket, now: number): number {
    this.asking = true;
    this.missed = false;
    try {
      const wait = this.core.wait(ticket, now);
      return wait === 0 || !this.missed ? wait : this.askOn(ticket, now);
    } finally {
      this.asking = false;
    }
  }

  private askOn(ticket: Ticket, now: number): number {
    let wait: number;
    do {
      this.missed = false;
      wait = this.core.wait(ticket, now);
    } while (wait !== 0 && this.missed);
    // What was missed was meant for those behind this one, too.
    this.missed = true;
    return wait;
  }

  /** @returns whether somebody has come meanwhile: sent by one whom the core has let pass elsewhere */
  protected noneWaits(): boolean {
    this.waker.cancel();
    if (!this.mindsIdle) return false;
    this.core.idle?.();
    return this.queue.seek();
  }

  protected refuse(ticket: Ticket, now: number): void {
    const error = this.refusalOf(ticket, now);
    if (error !== undefined) ticket.refuse(error);
  }

  private refusalOf(ticket: Ticket, now: number): Error | undefined {
    return this.core.refusal?.(ticket, now);
  }

  protected admit(ticket: Ticket, now: number): void {
    ticket.readAt = now;
    const charge = this.core.take(ticket, now);
    if (charge !== 0) ticket.lend(this, charge);
  }
}

/**
 * A ticket that was settled while it waits is not dead: its receiver, which counts it, must be told.
 * One that was refused while it waits is: its receiver has been told.
 */
export function isDead(item: unknown, receiver: Receiver): boolean {
  return receiver.gone || (isTicket(item) && item.refusal !== undefined);
}

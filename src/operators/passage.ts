import { Subscriber } from 'rxjs';
import type { Gate } from '../gate/gate.ts';
import { checkNumber } from '../model/check.ts';
import type { Clock } from '../model/clock.ts';
import type { Receiver } from '../model/parties.ts';
import { Roster } from '../model/roster.ts';
import type { Sized } from '../model/sized.ts';
import { isTicket, type Ticket } from '../model/ticket.ts';
import { passesAgain } from './attempt-gates.ts';
import type { Arrival, Intake } from './intake.ts';

/** How long a ticket may be between two gates before it is reclaimed. */
const DEFAULT_RECLAIM_AFTER_MS = 30_000;

type Newcomer = Ticket | 'without a ticket' | undefined;

export interface PassageOptions {
  /**
   * How long a ticket may be on its way to the next gate, in ms, before its leases are taken back.
   * Matters only where other operators between two gates delay or drop tickets. Default 30,000.
   */
  readonly reclaimAfterMs?: number;
}

export const PASSAGE_KEYS = ['reclaimAfterMs'] as const;

/** @throws RangeError or TypeError that names the option */
export function checkPassageOptions({ reclaimAfterMs }: PassageOptions): void {
  if (reclaimAfterMs !== undefined) checkNumber('reclaimAfterMs', reclaimAfterMs, 1);
}

/**
 * Takes tickets to a gate and hands them on when the gate lets them pass.
 *
 * Extends RxJS's Subscriber, as its own operators do, so that a synchronous source stops in the
 * very turn in which downstream unsubscribes.
 */
export class Passage<T> extends Subscriber<Arrival<T>> implements Receiver {
  private readonly out: Subscriber<Ticket<T>>;
  private readonly gate: Gate;
  private readonly intake: Intake<T>;
  private readonly clock: Clock;
  private readonly reclaimAfterMs: number;
  private readonly isPerAttempt: boolean;
  /** The tickets that wait at the gate; what waits without one is only counted. */
  private readonly tickets = new Roster<Ticket>();
  /** Tickets that were handed on and that nobody has taken over yet. */
  private readonly adrift = new Set<Ticket>();
  private waiting = 0;
  /** Arrivals of which it is not known yet whether they wait: an estimator may complete the source. */
  private arriving = 0;
  /** What the gate is asked to let in, and may make a ticket of. */
  private newcomer: Newcomer = undefined;
  /** Of those that wait, how many get their ticket now: an estimator may unsubscribe. */
  private turns = 0;
  private sourceDone: boolean;
  private completed: boolean;
  /** Downstream has closed. */
  gone: boolean;

  /** @param isPerAttempt whether a request passes the gate again before each further attempt */
  constructor(
    out: Subscriber<Ticket<T>>,
    gate: Gate,
    intake: Intake<T>,
    { reclaimAfterMs = DEFAULT_RECLAIM_AFTER_MS }: PassageOptions = {},
    isPerAttempt = false,
  ) {
    super(out);
    this.out = out;
    this.gate = gate;
    this.intake = intake;
    this.clock = intake.clock;
    this.reclaimAfterMs = reclaimAfterMs;
    this.isPerAttempt = isPerAttempt;
    // Not where they are declared: V8 takes a field that has never changed for a constant, and throws
    // away what it has compiled for that when the first stream ends.
    this.sourceDone = false;
    this.completed = false;
    this.gone = false;
    out.add(() => this.close());
  }

  protected override _next(arrival: Arrival<T>): void {
    this.arriving += 1;
    try {
      this.arrive(arrival);
    } finally {
      this.arriving -= 1;
    }
    if (this.sourceDone) this.completeIfDone();
  }

  /** Where nobody watches, a request gets its ticket only when its turn comes. */
  private arrive(arrival: Arrival<T>): void {
    if (isTicket(arrival)) this.takeOver(arrival);
    else if (!this.intake.needsTickets && !this.gate.needsTickets) {
      this.enterLater(arrival);
    } else {
      const ticket = this.make(arrival, this.clock.now());
      if (ticket !== undefined) this.enter(ticket);
    }
  }

  private enterLater(arrival: T | Sized<T>): void {
    const outer = this.swapNewcomer('without a ticket');
    const passed = this.gate.enterLater(arrival, this);
    const newcomer = this.swapNewcomer(outer);
    if (passed !== undefined) {
      this.handOn(passed as Ticket<T>);
      return;
    }
    this.waiting += 1;
    if (!isTicket(newcomer)) return;
    if (this.gone) newcomer.settle('cancelled');
    else this.tickets.add(newcomer);
  }

  /** Others may arrive, or have their turn, while the gate is asked. */
  private swapNewcomer(newcomer: Newcomer): Newcomer {
    const last = this.newcomer;
    this.newcomer = newcomer;
    return last;
  }

  protected override _error(error: unknown): void {
    this.out.error(error);
  }

  protected override _complete(): void {
    this.sourceDone = true;
    try {
      this.completeIfDone();
    } finally {
      this.unsubscribe();
    }
  }

  /** Called when the turn of an arrival comes, which may have to wait all the same. */
  ticketOf(arrival: T | Sized<T>, arrivedAt: number): Ticket<T> | undefined {
    const isNewcomer = this.newcomer === 'without a ticket';
    if (isNewcomer) this.newcomer = undefined;
    else this.turns += 1;
    const ticket = this.make(arrival, arrivedAt);
    if (!isNewcomer) this.turns -= 1;
    if (ticket === undefined) return undefined;
    if (isNewcomer) this.newcomer = ticket;
    else this.tickets.add(ticket);
    return ticket;
  }

  /** An estimator that fails errors the stream. */
  private make(arrival: T | Sized<T>, arrivedAt: number): Ticket<T> | undefined {
    try {
      const ticket = this.intake.ticketOf(arrival, arrivedAt);
      ticket.take(this);
      if (!this.gone) return ticket;
      // The estimator has unsubscribed; whoever counts requests has counted this one.
      ticket.settle('cancelled');
      return undefined;
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  admitted(ticket: Ticket<T>): void {
    this.waiting -= 1;
    this.tickets.remove(ticket);
    this.handOn(ticket);
    this.completeIfDone();
  }

  private takeOver(ticket: Ticket<T>): void {
    try {
      ticket.take(this);
    } catch (error) {
      this.fail(error);
      return;
    }
    this.enter(ticket);
  }

  private fail(error: unknown): void {
    this.out.error(error);
    this.close();
  }

  private enter(ticket: Ticket<T>): void {
    if (this.gate.enter(ticket, this)) this.handOn(ticket);
    else if (this.gone) ticket.settle('cancelled');
    else {
      this.waiting += 1;
      this.tickets.add(ticket);
    }
  }

  private handOn(ticket: Ticket<T>): void {
    // Its user may have settled it while it waited, or a probe unsubscribed as it was told.
    if (this.gone) ticket.settle('cancelled');
    if (ticket.outcome !== undefined) return;
    if (this.isPerAttempt) passesAgain(ticket, this.gate);
    ticket.release();
    this.out.next(ticket);
    // Whoever keeps it may come to the next gate at another time.
    ticket.readAt = Number.NaN;
    // A gate further down may have handed it on in the same turn: then that one watches.
    if (ticket.isAdrift && ticket.transit === undefined) this.watch(ticket);
  }

  /** An operator between two gates keeps the ticket: for a while that may be meant. */
  private watch(ticket: Ticket): void {
    if (this.out.closed) {
      ticket.settle('cancelled');
      return;
    }
    this.adrift.add(ticket);
    this.reclaimLater(ticket, true);
  }

  private reclaimLater(ticket: Ticket, keepAlive: boolean): void {
    const reclaim = () => {
      this.adrift.delete(ticket);
      ticket.settle('reclaimed');
      warnOfReclaim(this.reclaimAfterMs);
    };
    const timer = this.clock.setTimer(reclaim, this.reclaimAfterMs, keepAlive);
    ticket.transit = {
      cancel: () => {
        this.adrift.delete(ticket);
        timer.cancel();
      },
    };
  }

  private completeIfDone(): void {
    const isDone = this.sourceDone && this.waiting === 0 && this.arriving === 0;
    if (!isDone || this.completed) return;
    this.completed = true;
    this.out.complete();
  }

  /** Downstream has closed, whyever: nothing may be held here any more. */
  private close(): void {
    if (this.gone) return;
    this.gone = true;
    this.gate.left(this.waiting);
    let withoutTicket = this.waiting - this.turns;
    for (let ticket = this.tickets.first; ticket !== undefined; ticket = this.tickets.first) {
      this.tickets.remove(ticket);
      withoutTicket -= 1;
      ticket.settle('cancelled');
    }
    if (withoutTicket > 0) this.intake.abandoned(withoutTicket);
    for (const ticket of this.adrift) {
      if (!this.completed) ticket.settle('cancelled');
      else {
        // It may still be on its way to the next gate, through `delay` say. Nobody waits for it
        // here any more, unless the gate is shared, as that of a feedback is.
        ticket.transit?.cancel();
        this.reclaimLater(ticket, this.gate.kind === 'backoff');
      }
    }
  }
}

let warned = false;

/** Once a process: it means that requests wait for leases that nobody gives back. */
function warnOfReclaim(reclaimAfterMs: number): void {
  if (warned) return;
  warned = true;
  process.emitWarning(
    `headgate: a ticket came to no further gate within ${reclaimAfterMs} ms and was reclaimed; ` +
      "an operator that drops tickets should settle them: ticket.settle('cancelled')",
  );
}

import type { Instrumentation } from '../model/instrumentation.ts';
import { partsOf } from '../model/join-instrumentations.ts';
import type { Sized } from '../model/sized.ts';
import { isTicket, type Ticket } from '../model/ticket.ts';
import type { Gate } from '../queue/gate.ts';
import type { AdmissionCallback } from '../queue/waiting-requests.ts';
import { LinkedList } from '../util/collections.ts';
import { reportUnhandled } from './attempt-context.ts';
import type { RequestInput, TicketFactory } from './ticket-factory.ts';

/** Takes the requests of a stream that have passed their gate. */
export interface RequestSink<T> {
  admitted(ticket: Ticket<T>): void;
  /** The ticket of a request could not be made, or was used elsewhere: the stream fails. */
  inputFailed(error: unknown): void;
}

/**
 * The requests of one stream at one gate. If no instrumentation observes arrivals, a request gets
 * its ticket only when its turn comes. Until then it costs only a place in the queue.
 */
export class StreamRequests<T> implements AdmissionCallback {
  queued = 0;
  gone: boolean;
  private readonly gate: Gate;
  private readonly factory: TicketFactory<T>;
  private readonly sink: RequestSink<T>;
  /** The waiting requests that have a ticket. */
  private readonly tickets = new LinkedList<Ticket>();
  /** The number of waiting requests without a ticket. */
  private withoutTicket = 0;

  constructor(gate: Gate, factory: TicketFactory<T>, sink: RequestSink<T>) {
    this.gate = gate;
    this.factory = factory;
    this.sink = sink;
    // Not at its declaration: V8 treats a field that never changed as a constant, and discards the
    // compiled code when the first stream ends.
    this.gone = false;
  }

  get instrumentation(): Instrumentation | undefined {
    return this.factory.instrumentation;
  }

  /** @param index its position in its stream, if several gates take requests of that stream */
  bring(input: RequestInput<T>, index?: number): void {
    const { factory, gate } = this;
    const isTicketNeeded =
      isTicket(input) || factory.needsTicket() || gate.needsTicketOfStream(factory.instrumentation);
    if (isTicketNeeded) {
      this.bringTicket(input, index);
      return;
    }
    this.withoutTicket += 1;
    const passed = gate.enterLater(input, this, index);
    if (passed !== undefined) this.passOn(passed as Ticket<T>);
  }

  /** Called when the turn of a request comes. It may still have to wait. */
  ticketOf(input: T | Sized<T>, arrivedAt: number, index?: number): Ticket<T> | undefined {
    this.withoutTicket -= 1;
    try {
      const ticket = this.factory.ticketOf(input, arrivedAt, index);
      ticket.take(this);
      if (this.keeps(ticket)) return ticket;
    } catch (error) {
      this.sink.inputFailed(error);
    }
    return undefined;
  }

  /** Called by the gate, which may itself be called by the end of any other request. */
  admitted(ticket: Ticket<T>): void {
    try {
      this.passOn(ticket);
    } catch (thrown) {
      // The error may come from a teardown. It must not reach the code that ended the other
      // request.
      reportUnhandled(thrown);
    }
  }

  /** The results are no longer wanted: all requests leave the gate, and give their leases back. */
  close(): void {
    if (this.gone) return;
    this.gone = true;
    const { withoutTicket } = this;
    const waiting = withoutTicket > 0 && this.isObserved ? this.waitingInputs() : undefined;
    this.noteExits();
    this.gate.left(this);
    for (let ticket = this.tickets.first; ticket !== undefined; ticket = this.tickets.first) {
      this.tickets.remove(ticket);
      ticket.settle('cancelled');
    }
    if (waiting !== undefined) for (const each of waiting) this.abandon(...each);
    else if (withoutTicket > 0) this.factory.abandoned(withoutTicket);
  }

  /** Whether the end of a request is reported. */
  private get isObserved(): boolean {
    return this.gate.waits.instrumentationOf(this) !== undefined;
  }

  /**
   * The requests that wait without a ticket. A request whose ticket is just being made is not
   * included.
   */
  private waitingInputs(): [input: T | Sized<T>, since: number, index: number | undefined][] {
    const inputs: ReturnType<typeof this.waitingInputs> = [];
    this.gate.eachOf(this, (item, since, index) => {
      if (!isTicket(item)) inputs.push([item as T | Sized<T>, since, index as number | undefined]);
    });
    return inputs.slice(inputs.length - this.withoutTicket);
  }

  /** Reports that a request without a ticket has left the queue. Makes a ticket to report with. */
  private abandon(input: T | Sized<T>, arrivedAt: number, index: number | undefined): void {
    try {
      const ticket = this.factory.ticketOf(input, arrivedAt, index);
      this.gate.waits.noteExit(ticket, this);
      ticket.settle('cancelled');
    } catch {
      // The estimator has failed. The stream has ended, so the error has no receiver.
      this.factory.abandoned(1);
    }
  }

  /** Records the cause of its wait for each waiting request. */
  private noteExits(): void {
    for (let ticket = this.tickets.first; ticket !== undefined; ticket = ticket.after) {
      if (ticket.isQueued) this.gate.waits.noteExit(ticket, this);
    }
  }

  /** Brings the ticket of an earlier gate, or a request that needs its ticket at once. */
  private bringTicket(input: RequestInput<T>, index: number | undefined): void {
    const { factory } = this;
    let ticket: Ticket<T>;
    try {
      ticket = isTicket(input) ? factory.complete(input) : factory.ticketNow(input, index);
      ticket.take(this);
    } catch (error) {
      this.sink.inputFailed(error);
      return;
    }
    observeTicket(ticket, factory.instrumentation);
    if (!this.keeps(ticket)) return;
    // For a ticket made just now the clock was read.
    const now = ticket === input ? undefined : ticket.arrivedAt;
    if (this.gate.enter(ticket, this, now)) this.passOn(ticket);
  }

  /** @returns false: a function of the options has unsubscribed, and the ticket is settled */
  private keeps(ticket: Ticket<T>): boolean {
    if (this.gone) ticket.settle('cancelled');
    else this.tickets.add(ticket);
    return !this.gone;
  }

  private passOn(ticket: Ticket<T>): void {
    this.tickets.remove(ticket);
    this.sink.admitted(ticket);
  }
}

/**
 * Makes an instrumentation observe the end of a ticket that another gate has made, unless it does
 * already. Gates of one stream may have different instrumentations, and each must receive the end
 * of every request whose arrival it received.
 */
export function observeTicket(ticket: Ticket, instrumentation: Instrumentation | undefined): void {
  if (instrumentation === undefined || instrumentation === ticket.instrumentation) return;
  const first = ticket.instrumentation === undefined ? [] : partsOf(ticket.instrumentation);
  const observing: readonly object[] = [...first, ...(ticket.observers ?? [])];
  const more = partsOf(instrumentation).filter((part) => !observing.includes(part));
  if (more.length === 0) return;
  ticket.observers = [...(ticket.observers ?? []), ...more];
  for (const part of more) part.arrived?.(ticket);
}

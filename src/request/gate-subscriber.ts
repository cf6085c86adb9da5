import { Subscriber } from 'rxjs';
import { checkNumber } from '../model/check.ts';
import type { Clock } from '../model/clock.ts';
import type { Ticket } from '../model/ticket.ts';
import type { Gate } from '../queue/gate.ts';
import { passesAgain } from './attempt-gates.ts';
import { type RequestSink, StreamRequests } from './stream-requests.ts';
import type { RequestInput, TicketFactory } from './ticket-factory.ts';

/** How long a ticket may be between two gates before it is reclaimed. */
const DEFAULT_RECLAIM_AFTER_MS = 30_000;

export interface GateSubscriberOptions {
  /**
   * How long a ticket may be on its way to the next gate, in ms, before its leases are taken back.
   * Matters only where other operators between two gates delay or drop tickets. Default 30,000.
   */
  readonly reclaimAfterMs?: number;
}

export const GATE_SUBSCRIBER_KEYS = ['reclaimAfterMs'] as const;

/** @throws RangeError or TypeError that names the option */
export function checkGateSubscriberOptions({ reclaimAfterMs }: GateSubscriberOptions): void {
  if (reclaimAfterMs !== undefined) checkNumber('reclaimAfterMs', reclaimAfterMs, 1);
}

/**
 * Takes the requests of a stream to a gate, and hands their tickets on when the gate lets them pass.
 *
 * Extends RxJS's Subscriber, as its own operators do, so that a synchronous source stops in the
 * very turn in which downstream unsubscribes.
 */
export class GateSubscriber<T> extends Subscriber<RequestInput<T>> implements RequestSink<T> {
  private readonly out: Subscriber<Ticket<T>>;
  private readonly gate: Gate;
  private readonly clock: Clock;
  private readonly reclaimAfterMs: number;
  private readonly isPerAttempt: boolean;
  private readonly requests: StreamRequests<T>;
  /** Tickets that were handed on and that nobody has taken over yet. */
  private readonly inTransit = new Set<Ticket>();
  /** Requests that have come and were not handed on yet. */
  private pending = 0;
  /** `ending`: the source is done, and some still wait. */
  private state: 'open' | 'ending' | 'completed';

  /** @param isPerAttempt whether a request passes the gate again before each further attempt */
  constructor(
    out: Subscriber<Ticket<T>>,
    gate: Gate,
    factory: TicketFactory<T>,
    { reclaimAfterMs = DEFAULT_RECLAIM_AFTER_MS }: GateSubscriberOptions = {},
    isPerAttempt = false,
  ) {
    super(out);
    this.out = out;
    this.gate = gate;
    this.clock = factory.clock;
    this.reclaimAfterMs = reclaimAfterMs;
    this.isPerAttempt = isPerAttempt;
    this.requests = new StreamRequests(gate, factory, this);
    this.state = 'open';
    out.add(() => this.close());
  }

  protected override _next(input: RequestInput<T>): void {
    this.pending += 1;
    this.requests.bring(input);
  }

  protected override _error(error: unknown): void {
    this.out.error(error);
  }

  protected override _complete(): void {
    this.state = 'ending';
    try {
      this.completeIfDone();
    } finally {
      this.unsubscribe();
    }
  }

  admitted(ticket: Ticket<T>): void {
    try {
      this.handOn(ticket);
    } finally {
      this.pending -= 1;
    }
    if (this.state === 'ending') this.completeIfDone();
  }

  failed(error: unknown): void {
    this.out.error(error);
    this.close();
  }

  private handOn(ticket: Ticket<T>): void {
    // Its user may have settled it while it waited, or a probe unsubscribed as it was told.
    if (this.requests.gone) ticket.settle('cancelled');
    if (ticket.outcome !== undefined) return;
    if (this.isPerAttempt) passesAgain(ticket, this.gate);
    ticket.release();
    this.out.next(ticket);
    // An operator that keeps it may take it to the next gate at another time.
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
    this.inTransit.add(ticket);
    this.reclaimLater(ticket, true);
  }

  private reclaimLater(ticket: Ticket, keepAlive: boolean): void {
    const reclaim = () => {
      this.inTransit.delete(ticket);
      ticket.settle('reclaimed');
      warnOfReclaim(this.reclaimAfterMs);
    };
    const timer = this.clock.setTimer(reclaim, this.reclaimAfterMs, keepAlive);
    ticket.transit = {
      cancel: () => {
        this.inTransit.delete(ticket);
        timer.cancel();
      },
    };
  }

  private completeIfDone(): void {
    if (this.state !== 'ending' || this.pending > 0) return;
    this.state = 'completed';
    this.out.complete();
  }

  /** Downstream has closed, for whatever reason: nothing may be held here any more. */
  private close(): void {
    if (this.requests.gone) return;
    this.requests.close();
    for (const ticket of this.inTransit) {
      if (this.state !== 'completed') ticket.settle('cancelled');
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

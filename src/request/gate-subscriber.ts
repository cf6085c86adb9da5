import { Subscriber } from 'rxjs';
import type { Ticket } from '../model/ticket.ts';
import type { Gate } from '../queue/gate.ts';
import { checkNumber } from '../util/check.ts';
import type { Clock } from '../util/clock.ts';
import { warn } from '../util/warn.ts';
import { passesAgain } from './retries.ts';
import { type RequestSink, StreamRequests } from './stream-requests.ts';
import type { RequestInput, TicketFactory } from './ticket-factory.ts';

/** The default time after which a ticket between two gates is reclaimed. */
const DEFAULT_RECLAIM_AFTER_MS = 30_000;

export interface GateSubscriberOptions {
  /**
   * The time in ms after which the leases of a ticket that has not reached the next gate are taken
   * back. Matters only if other operators between two gates delay or drop tickets. Default 30,000.
   */
  readonly reclaimAfterMs?: number;
}

export const GATE_SUBSCRIBER_KEYS = ['reclaimAfterMs'] as const;

/** @throws RangeError or TypeError that names the option */
export function checkGateSubscriberOptions({ reclaimAfterMs }: GateSubscriberOptions): void {
  if (reclaimAfterMs !== undefined) checkNumber('reclaimAfterMs', reclaimAfterMs, 1);
}

/**
 * Takes the requests of a stream to a gate, and emits their tickets when the gate lets them pass.
 *
 * Extends RxJS's Subscriber, as its own operators do, so that a synchronous source stops at once
 * when downstream unsubscribes.
 */
export class GateSubscriber<T> extends Subscriber<RequestInput<T>> implements RequestSink<T> {
  private readonly out: Subscriber<Ticket<T>>;
  private readonly gate: Gate;
  private readonly clock: Clock;
  private readonly reclaimAfterMs: number;
  private readonly isPerAttempt: boolean;
  private readonly requests: StreamRequests<T>;
  /** Emitted tickets that have no new holder yet. */
  private readonly inTransit = new Set<Ticket>();
  /** Requests that arrived and were not emitted yet. */
  private pending = 0;
  /** `ending`: the source has completed, and requests still wait. */
  private state: 'open' | 'ending' | 'completed';

  /** @param isPerAttempt whether a request passes the gate again before each further attempt */
  constructor(
    out: Subscriber<Ticket<T>>,
    gate: Gate,
    factory: TicketFactory<T>,
    { reclaimAfterMs = DEFAULT_RECLAIM_AFTER_MS }: GateSubscriberOptions,
    isPerAttempt: boolean,
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
    this.completeIfDone();
  }

  inputFailed(error: unknown): void {
    this.out.error(error);
  }

  private handOn(ticket: Ticket<T>): void {
    // The user may have settled the ticket while it waited, or a hook may have unsubscribed.
    if (this.requests.gone) ticket.settle('cancelled');
    if (ticket.outcome !== undefined) return;
    if (this.isPerAttempt) passesAgain(ticket, this.gate);
    ticket.release();
    try {
      this.out.next(ticket);
    } catch (thrown) {
      // A Subscriber downstream has thrown it.
      this.out.error(thrown);
    }
    // An operator downstream may keep the ticket and pass it to the next gate later.
    if (ticket.attempts === 0) ticket.startedAt = Number.NaN;
    // A later gate may have emitted it in the same turn: then that gate watches it.
    if (ticket.isAdrift && ticket.transit === undefined) this.watch(ticket);
  }

  /**
   * Starts to watch a ticket that an operator between two gates keeps, which may be intended for a
   * while.
   */
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

  /** Downstream closed for any reason: nothing may be held here any more. */
  private close(): void {
    this.requests.close();
    for (const ticket of this.inTransit) {
      if (this.state !== 'completed') ticket.settle('cancelled');
      else {
        // The ticket may still be on its way to the next gate, for example through `delay`. No
        // request at this gate waits for its leases, unless the gate is shared (the gate of a
        // feedback is).
        ticket.transit?.cancel();
        this.reclaimLater(ticket, this.gate.kind === 'backoff');
      }
    }
  }
}

let warned = false;

/** Warns once per process: requests wait for leases that are not given back. */
function warnOfReclaim(reclaimAfterMs: number): void {
  if (warned) return;
  warned = true;
  warn(
    `headgate: a ticket came to no further gate within ${reclaimAfterMs} ms and was reclaimed; ` +
      "an operator that drops tickets should settle them: ticket.settle('cancelled')",
  );
}

import { type Observable, Subscriber, UnsubscriptionError } from 'rxjs';
import { ResponseError } from '../model/errors.ts';
import type { Outcome, SettleOutcome } from '../model/outcome.ts';
import { isTicket, type Ticket } from '../model/ticket.ts';
import type { Gate } from '../queue/gate.ts';
import { type Linked, LinkedList } from '../util/linked-list.ts';
import type { DispatchContext } from './dispatch-context.ts';
import { GateSubscriber } from './gate-subscriber.ts';
import { InOrder, type Slot } from './in-order.ts';
import { type ExecutionListener, RequestExecution } from './request-execution.ts';
import type { ResultOptions } from './send-options.ts';
import { observeTicket } from './stream-requests.ts';
import type { RequestInput, TicketFactory } from './ticket-factory.ts';

/** A request of a stream that is in flight. */
class StreamExecution<T, R>
  extends RequestExecution<T, R>
  implements Linked<StreamExecution<T, R>>
{
  /** Its neighbours among the executions of one subscription. */
  before: StreamExecution<T, R> | undefined = undefined;
  after: StreamExecution<T, R> | undefined = undefined;
  /** Its place in the order of results, if they are ordered. */
  slot: Slot<R | Outcome<T, R>> | undefined = undefined;
  /** The last emitted value, if it is kept. */
  last: R | undefined = undefined;
}

/** Sends requests, and emits their results downstream. */
export class ResultSubscriber<T, R>
  extends Subscriber<RequestInput<T>>
  implements ExecutionListener<T, R>
{
  protected readonly out: Subscriber<R | Outcome<T, R>>;
  private readonly outcomes: boolean;
  private readonly order: InOrder<R | Outcome<T, R>> | undefined;
  private readonly executions = new LinkedList<StreamExecution<T, R>>();
  private sourceDone: boolean;

  constructor(
    out: Subscriber<R | Outcome<T, R>>,
    { outcomes = false, ordered = false }: ResultOptions,
  ) {
    super(out);
    this.out = out;
    this.outcomes = outcomes;
    // Assigned here for the reason given in `StreamRequests`.
    this.sourceDone = false;
    this.order = ordered ? new InOrder(out) : undefined;
    out.add(() => this.close());
  }

  /** Reserves a place in the order of results for a later request. */
  reserve(): Slot<R | Outcome<T, R>> | undefined {
    return this.order?.open();
  }

  /** Sends a ticket that was taken over. */
  send(ticket: Ticket<T>, dispatch: DispatchContext<T, R>, slot = this.reserve()): void {
    // A listener of its arrival may have unsubscribed.
    if (this.out.closed) {
      ticket.settle('cancelled');
      return;
    }
    const execution = new StreamExecution(ticket, dispatch, this);
    this.executions.add(execution);
    execution.slot = slot;
    if (slot !== undefined) slot.carry = execution.carry;
    execution.send();
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

  /** Set at the start of the teardown: cancelling one request may let another one pass. */
  get gone(): boolean {
    return this.out.closed;
  }

  /** Torn down in this order; `project` may have sent others meanwhile. */
  subscribing(execution: StreamExecution<T, R>): void {
    this.executions.remove(execution);
    this.executions.add(execution);
  }

  value(execution: StreamExecution<T, R>, value: R): void {
    if (this.outcomes) execution.last = value;
    else this.emit(execution, value);
  }

  succeeded(execution: StreamExecution<T, R>): void {
    if (this.outcomes && execution.refusal !== undefined) {
      this.failed(execution, new ResponseError(execution.refusal));
      return;
    }
    this.executions.remove(execution);
    if (this.outcomes) {
      const { ticket, last } = execution;
      // The value of an empty Observable is `undefined`.
      const value = last as R;
      this.emit(execution, {
        status: 'ok',
        value,
        request: ticket.value,
        stats: ticket.stats(),
      });
    }
    this.finish(execution, 'ok');
  }

  failed(execution: StreamExecution<T, R>, error: unknown): void {
    try {
      // Downstream closes, and the executions are torn down in the order of sending.
      if (this.outcomes) execution.release();
      else {
        const { carry } = execution;
        if (carry === undefined) this.out.error(error);
        else carry(() => this.out.error(error));
      }
    } finally {
      if (this.outcomes) {
        const { ticket } = execution;
        this.emit(execution, {
          status: 'failed',
          error,
          request: ticket.value,
          stats: ticket.stats(),
        });
        // Not before: a request that its teardown ends must not count as the last one.
        this.executions.remove(execution);
      }
      this.finish(execution, 'failed');
    }
  }

  private emit({ slot, carry }: StreamExecution<T, R>, result: R | Outcome<T, R>): void {
    if (slot === undefined) {
      if (carry === undefined) this.out.next(result);
      else carry(() => this.out.next(result));
    } else {
      this.order?.push(slot, result);
      // The request may have ended while its result was emitted.
      this.completeIfDone();
    }
  }

  private finish(execution: StreamExecution<T, R>, outcome: 'ok' | 'failed'): void {
    if (execution.slot !== undefined) this.order?.close(execution.slot);
    execution.ticket.settle(endOf(execution.ticket, outcome));
    this.completeIfDone();
  }

  private completeIfDone(): void {
    if (!this.sourceDone || this.executions.first !== undefined) return;
    if (this.order === undefined || this.order.idle) this.out.complete();
  }

  /** Downstream closed for any reason: executions are abandoned. */
  private close(): void {
    const errors: unknown[] = [];
    for (
      let execution = this.executions.first;
      execution !== undefined;
      execution = this.executions.first
    ) {
      this.executions.remove(execution);
      try {
        execution.cancel();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new UnsubscriptionError(errors);
  }
}

/** A request that failed without being sent was rejected. */
export function endOf(ticket: Ticket, outcome: 'ok' | 'failed'): SettleOutcome {
  return ticket.refusal !== undefined && ticket.attempts === 0 ? 'rejected' : outcome;
}

/** Sends all tickets in the same way: the subscriber behind `dispatch`. */
export class DispatchSubscriber<T, R> extends ResultSubscriber<T, R> {
  private readonly factory: TicketFactory<T>;
  private readonly dispatch: DispatchContext<T, R>;

  constructor(
    out: Subscriber<R | Outcome<T, R>>,
    factory: TicketFactory<T>,
    dispatch: DispatchContext<T, R>,
    results: ResultOptions,
  ) {
    super(out, results);
    this.factory = factory;
    this.dispatch = dispatch;
  }

  protected override _next(input: RequestInput<T>): void {
    let ticket: Ticket<T>;
    try {
      ticket = isTicket(input) ? input : this.factory.ticketOf(input, this.factory.clock.now());
      ticket.take(this);
    } catch (error) {
      this.out.error(error);
      return;
    }
    observeTicket(ticket, this.factory.instrumentation);
    this.send(ticket, this.dispatch);
  }
}

/** The parts that requests of one kind pass: ticket factory, gate, and dispatch. */
export interface RequestPipeline<T, R, V = T> {
  readonly factory: TicketFactory<V>;
  readonly gate: Gate;
  readonly dispatch: DispatchContext<T, R>;
}

/** Subscribes to the source, and takes its requests through the gate to the API. */
export function sendThrough<T, R>(
  source: Observable<RequestInput<T>>,
  out: Subscriber<R | Outcome<T, R>>,
  { factory, gate, dispatch }: RequestPipeline<T, R>,
  results: ResultOptions,
): void {
  const sending = new DispatchSubscriber(out, factory, dispatch, results);
  source.subscribe(new GateSubscriber(sending, gate, factory));
}

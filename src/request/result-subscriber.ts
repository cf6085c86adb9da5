import { Subscriber, UnsubscriptionError } from 'rxjs';
import { ResponseError } from '../model/errors.ts';
import type { Outcome, SettleOutcome } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';
import type { Gate } from '../queue/gate.ts';
import { LinkedList } from '../util/collections.ts';
import { InOrder, type Slot } from './in-order.ts';
import { type ExecutionListener, RequestExecution } from './request-execution.ts';
import type { DispatchContext, ResultOptions } from './send-options.ts';
import { type RequestSink, StreamRequests } from './stream-requests.ts';
import type { RequestInput, TicketFactory } from './ticket-factory.ts';

/**
 * Sends the requests of a stream, and emits their results downstream. Subclasses decide how
 * requests pass their gates.
 *
 * Extends RxJS's Subscriber, as its own operators do, so that a synchronous source stops at once
 * when downstream unsubscribes.
 */
export abstract class ResultSubscriber<T, R>
  extends Subscriber<RequestInput<T>>
  implements ExecutionListener<T, R>
{
  protected readonly out: Subscriber<R | Outcome<T, R>>;
  /** Requests that arrived and were not sent yet. */
  protected pending = 0;
  protected readonly outcomes: boolean;
  protected readonly order: InOrder<R | Outcome<T, R>> | undefined;
  private readonly executions = new LinkedList<RequestExecution<T, R>>();
  private sourceDone: boolean;
  private isFailing: boolean;

  constructor(
    out: Subscriber<R | Outcome<T, R>>,
    { outcomes = false, ordered = false }: ResultOptions,
  ) {
    super(out);
    this.out = out;
    this.outcomes = outcomes;
    // Assigned here for the reason given in `StreamRequests`.
    this.sourceDone = false;
    this.isFailing = false;
    this.order = ordered ? new InOrder((result) => this.deliver(result)) : undefined;
  }

  /** Constructors call this last: downstream may have closed already. */
  protected closeWithDownstream(): void {
    this.out.add(() => this.close());
  }

  /** Downstream closed: waiting requests leave their gates. */
  protected leaveGates(): void {}

  /** Reserves a place in the order of results for a later request. */
  protected reserve(): Slot<R | Outcome<T, R>> | undefined {
    return this.order?.open();
  }

  /** Sends a ticket that was taken over. */
  protected send(ticket: Ticket<T>, dispatch: DispatchContext<T, R>, slot = this.reserve()): void {
    // A listener of the arrival may have unsubscribed.
    if (this.gone) {
      ticket.settle('cancelled');
      return;
    }
    const execution = new RequestExecution(ticket, dispatch, this);
    this.executions.add(execution);
    execution.slot = slot;
    if (slot !== undefined) slot.carry = execution.carry;
    execution.send();
  }

  protected override _error(error: unknown): void {
    this.fail(error);
  }

  /**
   * From here on nothing more of this stream is sent, even if the subscriber frees a slot in its
   * callback.
   */
  protected fail(error: unknown, carry?: (deliver: () => void) => void): void {
    this.isFailing = true;
    this.leaveGates();
    if (carry === undefined) this.out.error(error);
    else carry(() => this.out.error(error));
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
    return this.isFailing || this.out.closed;
  }

  /** Executions are torn down in this order; `project` may have sent other requests meanwhile. */
  subscribing(execution: RequestExecution<T, R>): void {
    this.executions.remove(execution);
    this.executions.add(execution);
  }

  value(execution: RequestExecution<T, R>, value: R): void {
    if (this.outcomes) execution.last = value;
    else this.emit(execution, value);
  }

  succeeded(execution: RequestExecution<T, R>): void {
    if (this.outcomes && execution.rejection !== undefined) {
      this.failed(execution, new ResponseError(execution.rejection));
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
    this.finish(execution, execution.rejection === undefined ? 'ok' : 'failed');
  }

  failed(execution: RequestExecution<T, R>, error: unknown): void {
    try {
      // Downstream closes, and the executions are torn down in the order of sending.
      if (this.outcomes) execution.release();
      else this.fail(error, execution.carry);
    } finally {
      if (this.outcomes) {
        const { ticket } = execution;
        this.emit(execution, {
          status: 'failed',
          error,
          request: ticket.value,
          stats: ticket.stats(),
        });
        // Remove it only now: a request that its teardown ends must not count as the last one.
        this.executions.remove(execution);
      }
      this.finish(execution, 'failed');
    }
  }

  protected emit(
    { slot, carry }: Pick<RequestExecution<T, R>, 'slot' | 'carry'>,
    result: R | Outcome<T, R>,
  ): void {
    if (slot === undefined) {
      if (carry === undefined) this.deliver(result);
      else carry(() => this.deliver(result));
    } else {
      this.order?.push(slot, result);
      // The request may have ended while its result was emitted.
      this.completeIfDone();
    }
  }

  /** As after `mergeMap`, what a Subscriber downstream throws ends the stream. */
  private deliver(result: R | Outcome<T, R>): void {
    try {
      this.out.next(result);
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  private finish(execution: RequestExecution<T, R>, outcome: 'ok' | 'failed'): void {
    if (execution.slot !== undefined) this.order?.close(execution.slot);
    execution.ticket.settle(settleOutcomeOf(execution.ticket, outcome));
    this.completeIfDone();
  }

  protected completeIfDone(): void {
    if (!this.sourceDone || this.pending > 0 || this.executions.first !== undefined) return;
    if (this.order === undefined || this.order.idle) this.out.complete();
  }

  /** Downstream closed for any reason: executions are abandoned. */
  private close(): void {
    // Leave the gates first: leases that executions give back must not let these requests pass.
    this.leaveGates();
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

/** The outcome to settle a ticket with: a request that failed without being sent was rejected. */
export function settleOutcomeOf(ticket: Ticket, outcome: 'ok' | 'failed'): SettleOutcome {
  return ticket.refusal !== undefined && ticket.attempts === 0 ? 'rejected' : outcome;
}

/** The parts that requests of one kind pass: ticket factory, gate, and dispatch. */
export interface RequestPipeline<T, R> {
  readonly factory: TicketFactory<T>;
  readonly gate: Gate;
  readonly dispatch: DispatchContext<T, R>;
}

/** Takes the requests of a stream through one gate to the API: the subscriber behind `throttle`. */
export class PipelineSubscriber<T, R> extends ResultSubscriber<T, R> implements RequestSink<T> {
  private readonly dispatch: DispatchContext<T, R>;
  private readonly requests: StreamRequests<T>;

  constructor(
    out: Subscriber<R | Outcome<T, R>>,
    { factory, gate, dispatch }: RequestPipeline<T, R>,
    options: ResultOptions,
  ) {
    super(out, options);
    this.dispatch = dispatch;
    this.requests = new StreamRequests(gate, factory, this);
    this.closeWithDownstream();
  }

  protected override _next(input: RequestInput<T>): void {
    this.pending += 1;
    this.requests.bring(input);
  }

  admitted(ticket: Ticket<T>): void {
    try {
      // The user may have settled the ticket while it waited.
      if (ticket.outcome === undefined) this.send(ticket, this.dispatch);
    } finally {
      this.pending -= 1;
    }
    this.completeIfDone();
  }

  inputFailed(error: unknown): void {
    this.fail(error);
  }

  protected override leaveGates(): void {
    this.requests.close();
  }
}

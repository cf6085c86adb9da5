import type { Amounts, Ticket } from '../model/ticket.ts';
import type { AdmissionCallback } from '../queue/admission-callback.ts';
import type { Gate } from '../queue/gate.ts';
import type { TicketFactory } from '../request/ticket-factory.ts';
import { type Abortable, AbortSubscription } from './abort-subscription.ts';

/** What makes the tickets of requests, and the gate that they pass. */
export interface Pipeline<T = unknown> {
  readonly factory: Pick<TicketFactory<T>, 'ticket' | 'abandoned'>;
  readonly gate: Gate;
}

/** The size, costs and rank of a request, and the pipeline that it takes. */
export interface RequestDetails<P> {
  readonly pipeline: P;
  readonly bytes: number;
  readonly tokens: number;
  readonly priority: number;
  readonly costs: Amounts | undefined;
  readonly weight: number;
}

/** The state of a request that can be aborted. */
export class AbortState<T> {
  isAborted = false;
  /** `making`: making its ticket may abort the request, which is counted already. */
  ticket: Ticket<T> | 'making' | undefined = undefined;
  /** The subscription to the signal, until the request has ended. */
  subscription: AbortSubscription | undefined = undefined;
  /** The execution, once the request is sent. */
  execution: { cancel(reason: unknown): void } | undefined = undefined;
}

/**
 * A request of a call that waits at the gate. An abort takes it out of the queue.
 *
 * Kept small, and references no young objects: many of these reach the old generation of the garbage
 * collector. Only requests that can be aborted keep the state for that.
 */
export abstract class PipelineRequest<T, P extends Pipeline<T> = Pipeline<T>>
  implements AdmissionCallback, Abortable
{
  queued = 0;
  protected readonly options: RequestDetails<P>;

  /** @param options the call options, if its ticket is made when its turn comes */
  constructor(options: RequestDetails<P>) {
    this.options = options;
  }

  /** Undefined if it cannot be aborted. */
  protected get abortState(): AbortState<T> | undefined {
    return undefined;
  }

  get gone(): boolean {
    return this.abortState?.isAborted === true;
  }

  get isCall(): boolean {
    return true;
  }

  /** The priority, for a queue where it waits without a ticket. */
  get priority(): number {
    return this.options.priority;
  }

  /** The request has passed the gate. */
  protected abstract send(ticket: Ticket<T>): void;

  /** The user aborted the request while it waited or later, or a limit refused it. */
  protected abstract reject(reason: unknown): void;

  /**
   * @param value the request itself, if it has no ticket yet
   * @param ticket its ticket, made just now; undefined if it is made when the request's turn comes
   */
  start(value: T, ticket: Ticket<T> | undefined): void {
    const { gate } = this.options.pipeline;
    if (ticket === undefined) {
      const passed = gate.enterLater(value, this);
      if (passed !== undefined) this.admitted(passed as Ticket<T>);
    } else if (gate.enter(ticket, this, ticket.arrivedAt)) this.admitted(ticket);
  }

  /**
   * Subscribes to the signal. @returns whether the request may start: the signal has not aborted
   * yet
   */
  protected heed(
    signal: AbortSignal,
    state: AbortState<T>,
    ticket: Ticket<T> | undefined,
  ): boolean {
    state.ticket = ticket;
    if (signal.aborted) {
      if (ticket === undefined) this.options.pipeline.factory.abandoned(1);
      this.abort(signal.reason);
      return false;
    }
    state.subscription = new AbortSubscription(signal, this);
    return true;
  }

  /** Makes the ticket when the request's turn comes. */
  ticketOf(value: T, arrivedAt: number): Ticket<T> {
    const { abortState, options } = this;
    const { bytes, tokens, pipeline } = options;
    if (abortState !== undefined) abortState.ticket = 'making';
    const ticket = pipeline.factory.ticket(
      value,
      bytes,
      tokens,
      arrivedAt,
      options,
      undefined,
      true,
    );
    if (abortState !== undefined) abortState.ticket = ticket;
    ticket.take(this);
    return ticket;
  }

  admitted(ticket: Ticket<T>): void {
    if (this.gone) return;
    if (ticket.refusal === undefined) {
      this.send(ticket);
      return;
    }
    this.end();
    this.reject(ticket.refusal);
    ticket.settle('rejected');
  }

  abort(reason: unknown): void {
    const state = this.abortState;
    if (state === undefined) return;
    const { ticket } = state;
    const { gate, factory } = this.options.pipeline;
    const isQueued = this.queued > 0;
    state.isAborted = true;
    this.end();
    if (isQueued && typeof ticket === 'object') gate.waits.givesUp(ticket, this);
    gate.left(this);
    this.reject(reason);
    if (typeof ticket === 'object') ticket.settle('cancelled');
    else if (ticket === undefined && isQueued) factory.abandoned(1);
  }

  /** The request has ended, and can no longer be aborted. */
  protected end(): void {
    const state = this.abortState;
    if (state === undefined) return;
    state.ticket = undefined;
    state.subscription?.stop();
    state.subscription = undefined;
  }
}

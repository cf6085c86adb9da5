import type { Ticket } from '../model/ticket.ts';
import type { Gate } from '../queue/gate.ts';
import type { AdmissionCallback } from '../queue/waiting-requests.ts';
import { type Abortable, AbortSubscription } from './abort-subscription.ts';

/** A call that a signal can abort. */
interface AbortableCall extends AdmissionCallback {
  reject(reason: unknown): void;
}

/** The parts of a pipeline that an aborted call leaves. */
interface LeftPipeline {
  readonly gate: Gate;
  readonly factory: { abandoned(count: number): void };
}

/**
 * The abort of a call by its signal: the call leaves the queue, or its execution is cancelled. Only
 * calls with a signal have this object.
 */
export class CallAbort implements Abortable {
  /** Undefined while the call waits without a ticket. */
  ticket: Ticket | undefined;
  /** The execution, once the request is sent. */
  execution: { cancel(reason: unknown): void } | undefined = undefined;
  private readonly call: AbortableCall;
  private readonly pipeline: LeftPipeline;
  private isAborted = false;
  private subscription: AbortSubscription | undefined = undefined;

  constructor(call: AbortableCall, pipeline: LeftPipeline, ticket: Ticket | undefined) {
    this.call = call;
    this.pipeline = pipeline;
    this.ticket = ticket;
  }

  /**
   * Whether the call was aborted, or will be in this turn. It never passes then, though the queue
   * counts it until it leaves.
   */
  get isGone(): boolean {
    return this.isAborted || this.subscription?.isDue === true;
  }

  /** @returns false if the signal has aborted already: the call was rejected */
  listen(signal: AbortSignal): boolean {
    if (signal.aborted) {
      this.abort(signal.reason);
      return false;
    }
    this.subscription = new AbortSubscription(signal, this);
    return true;
  }

  abort(reason: unknown): void {
    const { call, ticket, execution } = this;
    const { gate, factory } = this.pipeline;
    const isQueued = call.queued > 0;
    this.isAborted = true;
    if (isQueued && ticket !== undefined) gate.waits.noteExit(ticket, call);
    gate.left(call);
    call.reject(reason);
    execution?.cancel(reason);
    if (ticket === undefined) factory.abandoned(1);
    else ticket.settle('cancelled');
  }

  /** The call has ended, and can no longer be aborted. Frees what it used. */
  end(): void {
    this.ticket = undefined;
    this.execution = undefined;
    this.subscription?.stop();
  }
}

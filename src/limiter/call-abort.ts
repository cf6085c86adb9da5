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
  /** `making`: its ticket is being made, which may abort the call. The call is counted already. */
  ticket: Ticket | 'making' | undefined;
  /** The execution, once the request is sent. */
  execution: { cancel(reason: unknown): void } | undefined = undefined;
  private readonly call: AbortableCall;
  private readonly pipeline: LeftPipeline;
  private isAborted = false;
  /** The subscription to the signal, until the call has ended. */
  private subscription: AbortSubscription | undefined = undefined;

  constructor(call: AbortableCall, pipeline: LeftPipeline, ticket: Ticket | undefined) {
    this.call = call;
    this.pipeline = pipeline;
    this.ticket = ticket;
  }

  /**
   * Whether the call was aborted. While the call waits in the queue, it counts as waiting until the
   * listener of its signal is called. Elsewhere it is gone as soon as its signal has aborted.
   */
  get isGone(): boolean {
    return this.isAborted || (this.call.queued === 0 && this.subscription?.isDue === true);
  }

  /** @returns false if the signal has aborted already: the call was rejected */
  listen(signal: AbortSignal): boolean {
    if (signal.aborted) {
      if (this.ticket === undefined) this.pipeline.factory.abandoned(1);
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
    this.end();
    if (isQueued && typeof ticket === 'object') gate.waits.givesUp(ticket, call);
    gate.left(call);
    call.reject(reason);
    execution?.cancel(reason);
    if (typeof ticket === 'object') ticket.settle('cancelled');
    else if (ticket === undefined && isQueued) factory.abandoned(1);
  }

  /** The call has ended, and can no longer be aborted. */
  end(): void {
    this.ticket = undefined;
    this.execution = undefined;
    this.subscription?.stop();
    this.subscription = undefined;
  }
}

import type { Amounts, Ticket } from '../model/ticket.ts';
import type { AdmissionCallback } from '../queue/waiting-requests.ts';
import type { AttemptContext } from '../request/attempt-context.ts';
import { type ExecutionListener, RequestExecution } from '../request/request-execution.ts';
import { endOf, type RequestPipeline } from '../request/result-subscriber.ts';
import type { BoundTask } from '../util/pending-call.ts';
import { type Abortable, AbortSubscription } from './abort-subscription.ts';
import type { AcquireOptions } from './acquire-options.ts';

/** One call to the API; called again when it is retried. */
export type Task<R> = (context: AttemptContext) => R | PromiseLike<R>;

/** The task of a call; undefined: the call only takes a lease. */
export type CallTask = Task<unknown> | undefined;

/**
 * Immutable copy of a call's options: users may change and reuse their object.
 *
 * Tasks without a signal share this object in the queue: a waiting task has only a function and a
 * promise of its own, and becomes a request when its turn comes.
 */
export class CallOptions implements AdmissionCallback {
  queued = 0;
  readonly isCall = true;
  /** Its tasks cannot be aborted while they wait. */
  readonly gone = false;
  readonly pipeline: RequestPipeline<CallTask, unknown>;
  readonly bytes: number;
  readonly tokens: number;
  readonly priority: number;
  readonly costs: Amounts | undefined;
  readonly weight: number;

  constructor(
    pipeline: RequestPipeline<CallTask, unknown>,
    { bytes = 0, priority = 0, costs, weight = 1 }: AcquireOptions = {},
    tokens = 0,
  ) {
    this.pipeline = pipeline;
    // Fractions are rounded up, so that sums of sizes stay exact.
    this.bytes = Math.ceil(bytes);
    this.tokens = Math.ceil(tokens);
    this.priority = priority;
    this.costs = costs && { ...costs };
    this.weight = weight;
  }

  /** Whether a call with these checked options may share this object. */
  equals({ bytes = 0, priority = 0, costs, weight = 1 }: AcquireOptions, tokens: number): boolean {
    return (
      costs === undefined &&
      this.costs === undefined &&
      this.bytes === Math.ceil(bytes) &&
      this.tokens === Math.ceil(tokens) &&
      this.priority === priority &&
      this.weight === weight
    );
  }

  /**
   * Puts a task into the queue of the gate. The task cannot be aborted and needs no ticket yet.
   * @param task a function, or a function bound to the async context of its call
   * @param resolve resolves the promise of the call
   */
  enter(task: unknown, resolve: unknown): void {
    const passed = this.pipeline.gate.enterLater(task, this, resolve);
    if (passed !== undefined) this.admitted(passed);
  }

  ticketOf(task: unknown, arrivedAt: number, resolve: unknown): Ticket {
    const bound = typeof task === 'object' ? (task as BoundTask<CallTask>) : undefined;
    const request = new CallRequest(this, resolve as (result: unknown) => void, bound);
    return request.ticketOf(bound === undefined ? (task as CallTask) : bound.task, arrivedAt);
  }

  admitted(ticket: Ticket): void {
    (ticket.holder as CallRequest).admitted(ticket as Ticket<CallTask>);
  }
}

/** The state of a call that can be aborted. */
interface AbortState {
  isAborted: boolean;
  /** `making`: its ticket is being made, which may abort the call. The call is counted already. */
  ticket: Ticket<CallTask> | 'making' | undefined;
  /** The subscription to the signal, until the call has ended. */
  subscription: AbortSubscription | undefined;
  /** The execution, once the request is sent. */
  execution: RequestExecution<CallTask, unknown> | undefined;
}

/**
 * A call that waits at the gate and is then in flight, until it has ended. Its promise is settled
 * with its first value. An abort takes it out of the queue.
 *
 * Kept small, and references no young objects: many of these reach the old generation of the
 * garbage collector. Only calls that can be aborted keep the state for that.
 */
export class CallRequest
  implements AdmissionCallback, Abortable, ExecutionListener<CallTask, unknown>
{
  queued = 0;
  readonly bound: BoundTask<CallTask> | undefined;
  protected readonly options: CallOptions;
  /**
   * Resolves or rejects the promise. There is no second field for `reject`: most calls succeed and
   * would never use it.
   */
  private resolve: (result: unknown) => void;
  private abortState: AbortState | undefined = undefined;

  /** @param bound the task with the async context of its call, if there is one */
  constructor(
    options: CallOptions,
    resolve: (result: unknown) => void,
    bound?: BoundTask<CallTask>,
  ) {
    this.options = options;
    this.resolve = resolve;
    this.bound = bound;
  }

  /**
   * Whether the call was aborted. While the call waits in the queue, it counts as waiting until its
   * own listener is called. Elsewhere it is gone as soon as its signal has aborted.
   */
  get gone(): boolean {
    const state = this.abortState;
    if (state === undefined) return false;
    return state.isAborted || (this.queued === 0 && state.subscription?.isDue === true);
  }

  get isCall(): boolean {
    return true;
  }

  /** The priority, for a queue in which it waits without a ticket. */
  get priority(): number {
    return this.options.priority;
  }

  /** @param ticket made just now; undefined: it is made when the turn of the call comes */
  start(task: CallTask, ticket: Ticket<CallTask> | undefined, signal?: AbortSignal): void {
    const { gate, factory } = this.options.pipeline;
    ticket?.take(this);
    if (signal !== undefined) {
      const state = { isAborted: false, ticket, subscription: undefined, execution: undefined };
      this.abortState = state;
      if (signal.aborted) {
        if (ticket === undefined) factory.abandoned(1);
        this.abort(signal.reason);
        return;
      }
      this.abortState.subscription = new AbortSubscription(signal, this);
    }
    if (ticket === undefined) {
      const passed = gate.enterLater(task, this);
      if (passed !== undefined) this.admitted(passed as Ticket<CallTask>);
    } else if (gate.enter(ticket, this, ticket.arrivedAt)) this.admitted(ticket);
  }

  ticketOf(task: CallTask, arrivedAt: number): Ticket<CallTask> {
    const { abortState, options } = this;
    const { bytes, tokens, pipeline } = options;
    if (abortState !== undefined) abortState.ticket = 'making';
    const ticket = pipeline.factory.ticket(
      task,
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

  admitted(ticket: Ticket<CallTask>): void {
    if (this.gone) return;
    if (ticket.refusal === undefined) {
      this.send(ticket);
      return;
    }
    this.end();
    this.reject(ticket.refusal);
    ticket.settle('rejected');
  }

  /** The call has passed the gate. */
  protected send(ticket: Ticket<CallTask>): void {
    const execution = new RequestExecution(ticket, this.options.pipeline.dispatch, this);
    if (this.abortState !== undefined) this.abortState.execution = execution;
    execution.send();
  }

  /**
   * An execution that goes on after its first value must not keep that value alive through the
   * promise.
   */
  value(_execution: RequestExecution<CallTask, unknown>, value: unknown): void {
    const resolve = this.resolve;
    this.resolve = ignore;
    resolve(value);
  }

  succeeded({ ticket, refusal }: RequestExecution<CallTask, unknown>): void {
    this.end();
    ticket.settle(refusal === undefined ? 'ok' : 'failed');
  }

  failed({ ticket }: RequestExecution<CallTask, unknown>, error: unknown): void {
    this.end();
    this.reject(error);
    ticket.settle(endOf(ticket, 'failed'));
  }

  abort(reason: unknown): void {
    const state = this.abortState;
    if (state === undefined) return;
    const { ticket, execution } = state;
    const { gate, factory } = this.options.pipeline;
    const isQueued = this.queued > 0;
    state.isAborted = true;
    this.end();
    if (isQueued && typeof ticket === 'object') gate.waits.givesUp(ticket, this);
    gate.left(this);
    this.reject(reason);
    execution?.cancel(reason);
    if (typeof ticket === 'object') ticket.settle('cancelled');
    else if (ticket === undefined && isQueued) factory.abandoned(1);
  }

  /** The call was aborted, a limit refused it, or it failed for good. */
  protected reject(reason: unknown): void {
    this.resolve(rejected(reason));
  }

  /** The call has ended, and can no longer be aborted. */
  protected end(): void {
    const state = this.abortState;
    if (state === undefined) return;
    state.ticket = undefined;
    state.execution = undefined;
    state.subscription?.stop();
    state.subscription = undefined;
  }
}

/** Marks the rejection as handled: the promise may have settled before, with the task's value. */
function rejected(reason: unknown): Promise<never> {
  const promise = Promise.reject(reason);
  promise.catch(() => {});
  return promise;
}

function ignore(): void {}

import type { Amounts, Ticket } from '../model/ticket.ts';
import type { AdmissionCallback } from '../queue/waiting-requests.ts';
import type { AttemptContext } from '../request/attempt-context.ts';
import { type ExecutionListener, RequestExecution } from '../request/request-execution.ts';
import { type RequestPipeline, settleOutcomeOf } from '../request/result-subscriber.ts';
import { readsUsage } from '../request/send-options.ts';
import { TicketFactory } from '../request/ticket-factory.ts';
import type { Clock } from '../util/clock.ts';
import { type BoundTask, bindTask, deferred } from '../util/pending-call.ts';
import { withTimeout } from './abort-subscription.ts';
import { type AcquireOptions, checkAcquireOptions } from './acquire-options.ts';
import { CallAbort } from './call-abort.ts';
import type { LimiterRuntime } from './limiter-runtime.ts';
import { type UnchargedRequests, unchargedCalls } from './uncharged-requests.ts';

/** One call to the API; called again when it is retried. */
export type Task<R> = (context: AttemptContext) => R | PromiseLike<R>;

/** The task of a call; undefined: the call only takes a lease. */
export type CallTask = Task<unknown> | undefined;

/** The calls of a limiter: requests that belong to no stream. */
export class Calls {
  private readonly runtime: LimiterRuntime;
  readonly pipeline: RequestPipeline<CallTask, unknown>;
  /** The options of calls without options: their size is 0. */
  private readonly defaults: CallOptions;
  /** The options of the last call that had any. */
  private latest: CallOptions;
  /** Undefined if each limit is charged for. */
  private readonly uncharged: UnchargedRequests<AcquireOptions | undefined> | undefined;

  constructor(runtime: LimiterRuntime) {
    this.runtime = runtime;
    this.pipeline = {
      factory: new TicketFactory({ ...runtime.factoryOptions, isCall: true }),
      gate: runtime.gate.gate,
      dispatch: runtime.gate.dispatchContextOf((task: CallTask, context) =>
        Promise.resolve(task?.(context)),
      ),
    };
    this.defaults = new CallOptions(this.pipeline);
    this.latest = this.defaults;
    const isCharged = runtime.impossible.uncharged === undefined;
    this.uncharged = isCharged ? undefined : unchargedCalls(runtime);
  }

  get clock(): Clock {
    return this.runtime.clock;
  }

  /** Whether the usage in answers must be read. */
  get readsUsage(): boolean {
    return readsUsage(this.pipeline.dispatch);
  }

  /** See `Limiter.run`. */
  run<R>(task: Task<R>, own: AcquireOptions | undefined): Promise<R> {
    if (own?.timeoutMs !== undefined) {
      return withTimeout(own, this.runtime.clock, (rest) => this.run(task, rest));
    }
    const options = this.optionsOf(own, task);
    const ticket = this.ticketOf(task, options, own?.id);
    const { promise, resolve } = deferred<unknown>();
    const signal = own?.signal;
    const bound = bindTask<CallTask>(task, promise);
    if (ticket === undefined && signal === undefined) options.enter(bound ?? task, resolve);
    else new CallRequest(options, resolve, bound).start(task, ticket, signal);
    // The promise is resolved with a result of this task.
    return promise as Promise<R>;
  }

  /**
   * The checked options of a call; calls with equal options share one object.
   * @throws RangeError or TypeError that names a wrong option
   */
  optionsOf(own: AcquireOptions | undefined, task: CallTask): CallOptions {
    this.uncharged?.count(own);
    if (own === undefined) return this.defaults;
    checkAcquireOptions(own);
    const { pipeline, latest } = this;
    const tokens = own.tokens ?? pipeline.factory.tokensOf(task, Math.ceil(own.bytes ?? 0));
    if (!latest.equals(own, tokens)) this.latest = new CallOptions(pipeline, own, tokens);
    return this.latest;
  }

  /**
   * The ticket of a call; undefined if the call can be sent and its wait is neither observed nor
   * bounded, so that its ticket can be made later.
   */
  ticketOf(task: CallTask, options: CallOptions, id: unknown): Ticket<CallTask> | undefined {
    const { impossible } = this.runtime;
    if (id !== undefined) {
      const ticket = this.ticketNow(task, options);
      this.runtime.add(ticket, id);
      return ticket;
    }
    const isLater =
      !this.pipeline.gate.needsTicketOfCall &&
      (options === this.defaults || impossible.isPossible(options));
    return isLater ? undefined : this.ticketNow(task, options);
  }

  ticketNow(task: CallTask, options: CallOptions): Ticket<CallTask> {
    const { factory } = this.pipeline;
    const ticket = factory.ticket(task, options, factory.clock.now());
    factory.check(ticket);
    factory.arrived(ticket);
    return ticket;
  }
}

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

/**
 * A call that waits at the gate and is then in flight, until it has ended. Its promise is settled
 * with its first value.
 *
 * Kept small, and references no young objects: many of these reach the old generation of the
 * garbage collector.
 */
export class CallRequest implements AdmissionCallback, ExecutionListener<CallTask, unknown> {
  queued = 0;
  readonly bound: BoundTask<CallTask> | undefined;
  protected readonly options: CallOptions;
  /**
   * Resolves or rejects the promise. There is no second field for `reject`: most calls succeed and
   * would never use it.
   */
  private resolve: (result: unknown) => void;
  private abort: CallAbort | undefined = undefined;

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

  /** Whether the call was aborted. */
  get gone(): boolean {
    return this.abort?.isGone === true;
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
    const { pipeline } = this.options;
    const { gate } = pipeline;
    ticket?.take(this);
    if (signal !== undefined) {
      this.abort = new CallAbort(this, pipeline, ticket);
      if (!this.abort.listen(signal)) return;
    }
    if (ticket === undefined) {
      const passed = gate.enterLater(task, this);
      if (passed !== undefined) this.admitted(passed as Ticket<CallTask>);
    } else if (gate.enter(ticket, this, ticket.arrivedAt)) this.admitted(ticket);
  }

  ticketOf(task: CallTask, arrivedAt: number): Ticket<CallTask> {
    const { abort, options } = this;
    const { factory } = options.pipeline;
    const ticket = factory.ticket(task, options, arrivedAt);
    // It could be sent at its arrival, or it would not have waited without a ticket.
    if (factory.limits?.limitsStand === false) factory.check(ticket);
    if (abort !== undefined) abort.ticket = ticket;
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
    if (this.abort !== undefined) this.abort.execution = execution;
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

  succeeded({ ticket, rejection }: RequestExecution<CallTask, unknown>): void {
    this.end();
    ticket.settle(rejection === undefined ? 'ok' : 'failed');
  }

  failed({ ticket }: RequestExecution<CallTask, unknown>, error: unknown): void {
    this.end();
    this.reject(error);
    ticket.settle(settleOutcomeOf(ticket, 'failed'));
  }

  /** The call was aborted, a limit refused it, or it failed for good. */
  reject(reason: unknown): void {
    this.resolve(rejected(reason));
  }

  /** The call has ended, and can no longer be aborted. */
  protected end(): void {
    this.abort?.end();
  }
}

/** Marks the rejection as handled: the promise may have settled before, with the task's value. */
function rejected(reason: unknown): Promise<never> {
  const promise = Promise.reject(reason);
  promise.catch(() => {});
  return promise;
}

function ignore(): void {}

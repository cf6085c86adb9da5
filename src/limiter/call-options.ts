import { RequestTimeoutError } from '../model/errors.ts';
import type { Amounts, Ticket } from '../model/ticket.ts';
import type { AdmissionCallback } from '../queue/admission-callback.ts';
import type { Gate } from '../queue/gate.ts';
import type { BoundTask } from '../request/bound-task.ts';
import type { DispatchContext } from '../request/dispatch-context.ts';
import type { RequestPipeline } from '../request/result-subscriber.ts';
import type { TicketFactory } from '../request/ticket-factory.ts';
import { checkNumber } from '../util/check.ts';
import type { Clock } from '../util/clock.ts';
import { type AcquireOptions, checkAcquireOptions } from './limiter-options.ts';
import type { Pipeline, RequestDetails } from './pipeline-request.ts';
import { RunRequest, type TaskPipeline } from './run-request.ts';

/**
 * Immutable copy of a call's options (users may change and reuse their object), and the pipeline of
 * the call.
 *
 * Tasks without a signal share this object in the queue: a waiting task has only a function and a
 * promise of its own, and becomes a request when its turn comes.
 */
export class CallOptions<P extends Pipeline<never> = Pipeline>
  implements AdmissionCallback, RequestDetails<P>
{
  queued = 0;
  readonly pipeline: P;
  readonly bytes: number;
  readonly tokens: number;
  readonly priority: number;
  readonly costs: Amounts | undefined;
  readonly weight: number;

  constructor(pipeline: P, bytes = 0, tokens = 0, priority = 0, costs?: Amounts, weight = 1) {
    this.pipeline = pipeline;
    this.bytes = bytes;
    this.tokens = tokens;
    this.priority = priority;
    this.costs = costs;
    this.weight = weight;
  }

  get isCall(): boolean {
    return true;
  }

  /** Its tasks cannot be aborted while they wait. */
  get gone(): boolean {
    return false;
  }

  /**
   * Sends a task to the gate that cannot be aborted and needs no ticket yet.
   * @param task a function, or one that is bound to the async context of its call
   * @param resolve of the promise of the task
   */
  enter(task: unknown, resolve: unknown): void {
    const passed = this.pipeline.gate.enterLater(task, this, resolve);
    if (passed !== undefined) this.admitted(passed);
  }

  ticketOf(task: unknown, arrivedAt: number, resolve: unknown): Ticket {
    const options = this as CallOptions<Pipeline<never>> as CallOptions<
      TaskPipeline<unknown, unknown>
    >;
    const bound = typeof task === 'object' ? (task as BoundTask<unknown>) : undefined;
    const request = new RunRequest(options, resolve as (value: unknown) => void, bound);
    return request.ticketOf(bound === undefined ? task : bound.task, arrivedAt);
  }

  admitted(ticket: Ticket): void {
    (ticket.holder as RunRequest<unknown, unknown>).admitted(ticket);
  }

  /**
   * The call options for the same pipeline. Returns this object if the options are equal, so that
   * waiting calls with equal options share one.
   * @param options checked options
   * @param tokensOf estimates the tokens of a request from its bytes, if they are not given
   */
  with(
    { bytes = 0, tokens, priority = 0, costs, weight = 1 }: AcquireOptions,
    tokensOf: (bytes: number) => number,
  ): CallOptions<P> {
    // Fractions are rounded up, so that sums of sizes stay exact.
    const size = Math.ceil(bytes);
    const amount = Math.ceil(tokens ?? tokensOf(bytes));
    const isSame =
      costs === undefined &&
      this.costs === undefined &&
      this.bytes === size &&
      this.tokens === amount &&
      this.priority === priority &&
      this.weight === weight;
    if (isSame) return this;
    return new CallOptions(this.pipeline, size, amount, priority, costs && { ...costs }, weight);
  }
}

/**
 * The parts that calls of one kind pass in a limiter. Tickets may contain more (`V`) than is sent
 * (`T`).
 */
export class CallPipeline<T, R, V = T> implements RequestPipeline<T, R, V> {
  readonly factory: TicketFactory<V>;
  readonly gate: Gate;
  readonly dispatch: DispatchContext<T, R>;
  /** The call options of requests without options: their size is 0. */
  readonly defaults: CallOptions<CallPipeline<T, R, V>>;
  /** The call options of the last request with options. */
  latest: CallOptions<CallPipeline<T, R, V>>;

  constructor(factory: TicketFactory<V>, gate: Gate, dispatch: DispatchContext<T, R>) {
    this.factory = factory;
    this.gate = gate;
    this.dispatch = dispatch;
    this.defaults = new CallOptions(this);
    this.latest = this.defaults;
  }
}

/**
 * The checked options of a call; calls with equal options share one object.
 * @throws RangeError or TypeError that names a wrong option
 */
export function callOptionsOf<T, R, V>(
  options: AcquireOptions | undefined,
  value: unknown,
  pipeline: CallPipeline<T, R, V>,
): CallOptions<CallPipeline<T, R, V>> {
  if (options === undefined) return pipeline.defaults;
  checkAcquireOptions(options);
  const tokensOf = (bytes: number) => pipeline.factory.tokensOf(value, bytes);
  pipeline.latest = pipeline.latest.with(options, tokensOf);
  return pipeline.latest;
}

/** The ticket of a call that arrives now. */
export function ticketNow<T, R, V, W extends V>(
  value: W,
  options: CallOptions<CallPipeline<T, R, V>>,
): Ticket<W> {
  const { factory } = options.pipeline;
  return factory.ticket(value, options.bytes, options.tokens, factory.clock.now(), options);
}

/**
 * Makes a call that a time bounds, from now to its end: it is aborted then.
 * @throws RangeError or TypeError that names a wrong option
 */
export function withTimeout<R>(
  timeoutMs: number,
  options: AcquireOptions,
  clock: Clock,
  call: (options: AcquireOptions) => Promise<R>,
): Promise<R> {
  checkAcquireOptions(options);
  checkNumber('timeoutMs', timeoutMs, 1);
  const { timeoutMs: _, signal, ...rest } = options;
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  const timer = clock.setTimer(
    () => controller.abort(new RequestTimeoutError(timeoutMs)),
    timeoutMs,
  );
  const promise = call({ ...rest, signal: controller.signal });
  const ended = () => {
    timer.cancel();
    signal?.removeEventListener('abort', abort);
  };
  promise.then(ended, ended);
  return promise;
}

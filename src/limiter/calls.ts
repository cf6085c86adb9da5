import {
  QuotaExhaustedError,
  RequestTimeoutError,
  RetryAfterTooLongError,
} from '../model/errors.ts';
import type { Ticket } from '../model/ticket.ts';
import { CircuitOpenError } from '../policies/circuit-open-error.ts';
import { RateLimitExceededError } from '../policies/rate-limit/errors.ts';
import type { RequestPipeline } from '../request/result-subscriber.ts';
import { TicketFactory } from '../request/ticket-factory.ts';
import { bindTask } from '../util/bound-task.ts';
import type { Clock } from '../util/clock.ts';
import { deferred } from '../util/deferred.ts';
import {
  CallOptions,
  CallRequest,
  type CallTask,
  LeaseRequest,
  type Task,
} from './call-request.ts';
import { type Lease, leaseOf } from './lease.ts';
import { type AcquireOptions, checkAcquireOptions } from './limiter-options.ts';
import type { LimiterRuntime } from './limiter-runtime.ts';

/** The requests of a limiter that are no stream's: calls of tasks, and for leases. */
export class Calls {
  private readonly runtime: LimiterRuntime;
  readonly pipeline: RequestPipeline<CallTask, unknown>;
  /** Of calls without options: their size is 0. */
  private readonly defaults: CallOptions;
  /** Of the last call with options. */
  private latest: CallOptions;

  constructor(runtime: LimiterRuntime) {
    this.runtime = runtime;
    this.pipeline = {
      factory: new TicketFactory({ ...runtime.around, isCall: true }),
      gate: runtime.gate.gate,
      dispatch: runtime.gate.dispatchContextOf((task: CallTask, context) =>
        Promise.resolve(task?.(context)),
      ),
    };
    this.defaults = new CallOptions(this.pipeline);
    this.latest = this.defaults;
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
    // It is resolved with a result of this task.
    return promise as Promise<R>;
  }

  /** See `Limiter.acquire`. */
  acquire(own: AcquireOptions | undefined): Promise<Lease> {
    if (own?.timeoutMs !== undefined) {
      return withTimeout(own, this.runtime.clock, (rest) => this.acquire(rest));
    }
    const options = this.optionsOf(own, undefined);
    const ticket = this.ticketOf(undefined, options, own?.id);
    return new Promise((grant, refuse) =>
      new LeaseRequest(options, grant, refuse).start(undefined, ticket, own?.signal),
    );
  }

  /** See `Limiter.tryAcquire`. */
  tryAcquire(own: AcquireOptions): Lease | undefined {
    const ticket = this.ticketNow(undefined, this.optionsOf(own, undefined));
    ticket.take(this);
    const { gate, dispatch } = this.pipeline;
    if (gate.tryEnter(ticket)) return leaseOf(ticket, dispatch);
    const { refusal } = ticket;
    const isImpossible = refusal !== undefined && !PASSING.some((kind) => refusal instanceof kind);
    // A caller that asks until it is granted has one request, not one per call.
    ticket.settle(isImpossible ? 'rejected' : 'cancelled');
    if (isImpossible) throw refusal;
    return undefined;
  }

  /**
   * The checked options of a call; calls with equal options share one object.
   * @throws RangeError or TypeError that names a wrong option
   */
  private optionsOf(own: AcquireOptions | undefined, task: CallTask): CallOptions {
    if (own === undefined) return this.defaults;
    checkAcquireOptions(own);
    const { pipeline, latest } = this;
    const tokens = own.tokens ?? pipeline.factory.tokensOf(task, Math.ceil(own.bytes ?? 0));
    if (!latest.equals(own, tokens)) this.latest = new CallOptions(pipeline, own, tokens);
    return this.latest;
  }

  /**
   * Undefined if it can be sent and its wait is neither observed nor bounded: its ticket can be
   * made later.
   */
  private ticketOf(
    task: CallTask,
    options: CallOptions,
    id: unknown,
  ): Ticket<CallTask> | undefined {
    const { impossible } = this.runtime;
    if (id !== undefined) {
      const ticket = this.ticketNow(task, options);
      this.runtime.add(ticket, id);
      return ticket;
    }
    const isLater =
      !this.pipeline.gate.needsTickets &&
      (options === this.defaults || impossible.isPossible(options));
    return isLater ? undefined : this.ticketNow(task, options);
  }

  private ticketNow(task: CallTask, options: CallOptions): Ticket<CallTask> {
    const { factory } = this.pipeline;
    return factory.ticket(task, options.bytes, options.tokens, factory.clock.now(), options);
  }
}

/**
 * Makes a call that a time bounds, from now to its end: it is aborted then.
 * @throws RangeError or TypeError that names a wrong option
 */
function withTimeout<R>(
  options: AcquireOptions,
  clock: Clock,
  call: (options: AcquireOptions) => Promise<R>,
): Promise<R> {
  checkAcquireOptions(options);
  const { timeoutMs = Number.POSITIVE_INFINITY, signal, ...rest } = options;
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

/** The errors of a request that may be sent later. */
const PASSING = [
  RateLimitExceededError,
  CircuitOpenError,
  RetryAfterTooLongError,
  QuotaExhaustedError,
] as const;

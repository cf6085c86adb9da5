import type { Ticket } from '../model/ticket.ts';
import { neverCharged } from '../policies/rate-limit-policy.ts';
import type { RequestPipeline } from '../request/result-subscriber.ts';
import { TicketFactory } from '../request/ticket-factory.ts';
import type { Clock } from '../util/clock.ts';
import { bindTask, deferred } from '../util/pending-call.ts';
import { withTimeout } from './abort-subscription.ts';
import { type AcquireOptions, checkAcquireOptions } from './acquire-options.ts';
import { CallOptions, CallRequest, type CallTask, type Task } from './call-request.ts';
import type { LimiterRuntime } from './limiter-runtime.ts';

/** Calls without `costs` after which a limit that only `costs` charge is probably a mistake. */
const ENOUGH = 10;
/** The limits that this process has warned of. */
const warned = new Set<string>();

/** The calls of a limiter: requests that belong to no stream. */
export class Calls {
  private readonly runtime: LimiterRuntime;
  readonly pipeline: RequestPipeline<CallTask, unknown>;
  /** The options of calls without options: their size is 0. */
  private readonly defaults: CallOptions;
  /** The options of the last call that had any. */
  private latest: CallOptions;
  private readonly uncharged: UnchargedCalls;

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
    this.uncharged = new UnchargedCalls(runtime);
  }

  get clock(): Clock {
    return this.runtime.clock;
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
    this.uncharged.count(own);
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
      !this.pipeline.gate.needsTickets &&
      (options === this.defaults || impossible.isPossible(options));
    return isLater ? undefined : this.ticketNow(task, options);
  }

  ticketNow(task: CallTask, options: CallOptions): Ticket<CallTask> {
    const { factory } = this.pipeline;
    return factory.ticket(task, options.bytes, options.tokens, factory.clock.now(), options);
  }
}

/** Warns of a limit that calls are never charged for, such as one with the name `rpm`. */
class UnchargedCalls {
  private readonly runtime: LimiterRuntime;
  /** The calls so far; at `ENOUGH` there is nothing left to warn of. */
  private calls: number;

  constructor(runtime: LimiterRuntime) {
    this.runtime = runtime;
    this.calls = runtime.impossible.uncharged === undefined ? ENOUGH : 0;
  }

  /** A call has arrived. */
  count(own: AcquireOptions | undefined): void {
    if (this.calls >= ENOUGH) return;
    const { impossible, hasCosts } = this.runtime;
    const limit = own?.costs === undefined && !hasCosts ? impossible.uncharged : undefined;
    this.calls = limit === undefined ? ENOUGH : this.calls + 1;
    if (limit === undefined || this.calls < ENOUGH || warned.has(limit)) return;
    warned.add(limit);
    process.emitWarning(`headgate: ${neverCharged(limit)}`);
  }
}

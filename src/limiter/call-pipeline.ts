import type { Gate } from '../queue/gate.ts';
import type { DispatchContext } from '../request/dispatch-context.ts';
import type { RequestPipeline } from '../request/dispatch-subscriber.ts';
import type { TicketFactory } from '../request/ticket-factory.ts';
import { CallOptions } from './call-options.ts';

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

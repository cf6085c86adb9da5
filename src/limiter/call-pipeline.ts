import type { Gate } from '../queue/gate.ts';
import type { DispatchContext } from '../request/dispatch-context.ts';
import type { RequestPipeline } from '../request/dispatch-subscriber.ts';
import type { TicketFactory } from '../request/ticket-factory.ts';
import { CallOptions } from './call-options.ts';

/** How calls of one kind go through a limiter. Tickets may be made of more (`V`) than is sent (`T`). */
export class CallPipeline<T, R, V = T> implements RequestPipeline<T, R, V> {
  readonly factory: TicketFactory<V>;
  readonly gate: Gate;
  readonly dispatch: DispatchContext<T, R>;
  /** Of a request of which nothing is said: it has no size. */
  readonly defaults: CallOptions<CallPipeline<T, R, V>>;
  /** Of the last of which something was said. */
  latest: CallOptions<CallPipeline<T, R, V>>;

  constructor(factory: TicketFactory<V>, gate: Gate, dispatch: DispatchContext<T, R>) {
    this.factory = factory;
    this.gate = gate;
    this.dispatch = dispatch;
    this.defaults = new CallOptions(this);
    this.latest = this.defaults;
  }
}

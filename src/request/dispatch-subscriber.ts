import type { Subscriber } from 'rxjs';
import type { Outcome } from '../model/outcome.ts';
import { isTicket, type Ticket } from '../model/ticket.ts';
import type { DispatchContext } from './dispatch-context.ts';
import { ResultSubscriber } from './result-subscriber.ts';
import type { ResultOptions } from './send-options.ts';
import { observeTicket } from './stream-requests.ts';
import type { RequestInput, TicketFactory } from './ticket-factory.ts';

/** Sends all tickets at once: the subscriber behind `dispatch`. */
export class DispatchSubscriber<T, R> extends ResultSubscriber<T, R> {
  private readonly factory: TicketFactory<T>;
  private readonly dispatch: DispatchContext<T, R>;

  constructor(
    out: Subscriber<R | Outcome<T, R>>,
    factory: TicketFactory<T>,
    dispatch: DispatchContext<T, R>,
    results: ResultOptions,
  ) {
    super(out, results);
    this.factory = factory;
    this.dispatch = dispatch;
    this.closeWithDownstream();
  }

  protected override _next(input: RequestInput<T>): void {
    let ticket: Ticket<T>;
    try {
      ticket = isTicket(input) ? input : this.factory.ticketOf(input, this.factory.clock.now());
      ticket.take(this);
    } catch (error) {
      this.out.error(error);
      return;
    }
    observeTicket(ticket, this.factory.instrumentation);
    this.send(ticket, this.dispatch);
  }
}

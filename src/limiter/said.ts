import type { Gate } from '../gate/gate.ts';
import type { Receiver } from '../model/parties.ts';
import type { Amounts, Ticket } from '../model/ticket.ts';
import { Call, type CallRoute } from './call.ts';
import type { AcquireOptions } from './limiter-options.ts';
import type { Route } from './walk.ts';

/**
 * What a promise user has said of a request, as it was then (options may be changed and used again),
 * and the way that it goes.
 *
 * For tasks that nobody can abort it stands in the queue itself: those that wait have nothing of
 * their own but a task and a promise, and become calls when their turn comes.
 */
export class Said<R extends Route = Route> implements Receiver {
  readonly route: R;
  readonly bytes: number;
  readonly tokens: number;
  readonly priority: number;
  readonly costs: Amounts | undefined;

  constructor(route: R, bytes = 0, tokens = 0, priority = 0, costs?: Amounts) {
    this.route = route;
    this.bytes = bytes;
    this.tokens = tokens;
    this.priority = priority;
    this.costs = costs;
  }

  /** Nobody can take its tasks out of a queue. */
  get gone(): boolean {
    return false;
  }

  /**
   * To the first gate with a task that nobody can abort and that needs no ticket yet.
   * @param resolve of the promise of the task
   */
  enter(task: unknown, resolve: unknown): void {
    const passed = (this.route.gates[0] as Gate).enterLater(task, this, resolve);
    if (passed !== undefined) this.admitted(passed);
  }

  ticketOf(task: unknown, arrivedAt: number, resolve: unknown): Ticket | undefined {
    const said = this as Said<Route> as Said<CallRoute<unknown, unknown>>;
    return new Call(said, resolve as (value: unknown) => void).ticketOf(task, arrivedAt);
  }

  admitted(ticket: Ticket): void {
    (ticket.holder as Call<unknown, unknown>).admitted(ticket);
  }

  /**
   * The same way, with what is said now: this very object, where that is the same as before. So
   * those that wait, of whom the same is said, share one.
   * @param options checked
   * @param tokensOf estimates the tokens of a request by its bytes, where they are not said
   */
  with(
    { bytes = 0, tokens, priority = 0, costs }: AcquireOptions,
    tokensOf: (bytes: number) => number,
  ): Said<R> {
    // Fractions are rounded up, so that sums of sizes stay exact.
    const size = Math.ceil(bytes);
    const amount = Math.ceil(tokens ?? tokensOf(bytes));
    const isSame =
      costs === undefined &&
      this.costs === undefined &&
      this.bytes === size &&
      this.tokens === amount &&
      this.priority === priority;
    return isSame ? this : new Said(this.route, size, amount, priority, costs && { ...costs });
  }
}

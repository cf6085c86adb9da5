import type { Gate } from '../gate/gate.ts';
import type { Dispatcher } from '../operators/dispatcher.ts';
import type { Gates } from '../operators/gates.ts';
import type { Intake } from '../operators/intake.ts';
import { Said } from './said.ts';

/**
 * How requests of one kind go through a limiter: who makes their tickets, what they pass, and how
 * they are sent. Tickets may be made of more (`V`) than what is sent (`T`).
 */
export class Way<T, R, V = T> {
  readonly intake: Intake<V>;
  readonly first: Gate;
  /** All that it passes, the first first. */
  readonly gates: readonly Gate[];
  readonly dispatcher: Dispatcher<T, R>;
  /** Of a request that goes this way, and of which nothing is said: it has no size. */
  readonly said: Said<Way<T, R, V>>;
  /** Of the last of which something was said. */
  latest: Said<Way<T, R, V>>;

  constructor(
    intake: Intake<V>,
    { concurrency, byteBudget, attempt }: Gates,
    dispatcher: Dispatcher<T, R>,
  ) {
    this.intake = intake;
    this.first = concurrency;
    this.gates = [concurrency, byteBudget, attempt.gate];
    this.dispatcher = dispatcher;
    this.said = new Said(this);
    this.latest = this.said;
  }
}

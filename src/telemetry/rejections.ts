import type { Link } from '@opentelemetry/api';
import type { GateKind } from '../model/outcome.ts';
import type { Ticket } from '../model/ticket.ts';

/** Links to the request and attempt of a 429; undefined: they are not traced. */
type Links = readonly Link[] | undefined;

/** The last 429s of the requests that share a feedback, which let others of them wait. */
export class Rejections {
  /** The 429 that last closed the backoff gate. */
  closedBy: Links = undefined;
  /** The last 429, which slowed the adaptive rate. */
  #slowedBy: Links = undefined;
  /** The time of that 429, by the gates' clock. */
  #slowedAt = Number.NEGATIVE_INFINITY;

  slowed(by: Links, ticket: Ticket): void {
    this.#slowedBy = by;
    this.#slowedAt = ticket.arrivedAt + ticket.ageMs;
  }

  /**
   * Links to the 429 that made a request wait. A wait for the pace counts as its effect if the
   * request arrived before the 429, or in the mode that followed it.
   */
  causeOf(gate: GateKind, ticket: Ticket, inOtherMode: boolean): Links {
    if (gate === 'backoff') return this.closedBy;
    const isSlowed = ticket.arrivedAt <= this.#slowedAt || inOtherMode;
    return gate === 'pace' && isSlowed ? this.#slowedBy : undefined;
  }
}

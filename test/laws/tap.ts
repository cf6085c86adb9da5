import type { SettleOutcome } from '../../src/model/outcome.ts';
import { Ticket } from '../../src/model/ticket.ts';

/** A listener that gets the events of all tickets before any other listener. */
export interface Tap {
  /** Called when a holder takes the ticket; again at the next gate. */
  taken(ticket: Ticket): void;
  refused(ticket: Ticket, error: Error): void;
  /** Called when the ticket has waited at a gate and passes. */
  waited(ticket: Ticket): void;
  sent(ticket: Ticket): void;
  recorded(ticket: Ticket, limit: string, amount: number): void;
  /** What the present attempt was charged is given back now. */
  attemptOver(ticket: Ticket, outcome: SettleOutcome | undefined): void;
  settled(ticket: Ticket, outcome: SettleOutcome): void;
}

/** Listens to all tickets. Returns a function that stops it. */
export function tapTickets(tap: Tap): () => void {
  const { take, refuse, waited, sent, record, returnTo, settle } = Ticket.prototype;
  const proto = Ticket.prototype;
  proto.take = function (holder) {
    take.call(this, holder);
    tap.taken(this);
  };
  proto.refuse = function (error) {
    tap.refused(this, error);
    refuse.call(this, error);
  };
  proto.waited = function (...wait) {
    waited.apply(this, wait);
    tap.waited(this);
  };
  proto.sent = function (epoch) {
    sent.call(this, epoch);
    tap.sent(this);
  };
  proto.record = function (limit, amount) {
    record.call(this, limit, amount);
    tap.recorded(this, limit, amount);
  };
  proto.returnTo = function (lender) {
    tap.attemptOver(this, undefined);
    returnTo.call(this, lender);
  };
  proto.settle = function (outcome) {
    if (this.outcome === undefined) {
      tap.attemptOver(this, outcome);
      tap.settled(this, outcome);
    }
    return settle.call(this, outcome);
  };
  return () => Object.assign(proto, { take, refuse, waited, sent, record, returnTo, settle });
}

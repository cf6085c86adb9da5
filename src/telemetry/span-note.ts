import type { Context } from '@opentelemetry/api';
import type { Ticket, TicketNote } from '../model/ticket.ts';
import type { RequestSpan } from './request-span.ts';

/** What the spans of one name keep of a request that has not ended. */
export class SpanNote implements TicketNote {
  readonly owner: object;
  next: TicketNote | undefined;
  /**
   * Undefined: its span is not recorded, or has ended. Then it has no children, and one context
   * alone.
   */
  span: RequestSpan | undefined;
  private readonly context: Context;

  /** Adds itself to the notes of a ticket. */
  constructor(ticket: Ticket, owner: object, context: Context, span: RequestSpan | undefined) {
    this.owner = owner;
    this.next = ticket.notes;
    this.context = context;
    this.span = span;
    ticket.notes = this;
  }

  /** The context of what is done for the request now. */
  get active(): Context {
    return this.span === undefined ? this.context : this.span.active;
  }
}

/** The note of one owner; undefined: it has made none. */
export function spanNoteOf({ notes }: Ticket, owner: object): SpanNote | undefined {
  for (let note = notes; note !== undefined; note = note.next) {
    if (note.owner === owner && note instanceof SpanNote) return note;
  }
  return undefined;
}

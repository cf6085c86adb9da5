import type { Context } from '@opentelemetry/api';
import type { Ticket, TicketNote } from '../model/ticket.ts';
import type { RequestSpan } from './request-span.ts';

/** What the metrics, or the spans, of one name keep of a request. */
export class Note implements TicketNote {
  readonly owner: object;
  next: TicketNote | undefined;
  /** How old the request was when its present attempt began, in ms; NaN: none runs. */
  startedMs = Number.NaN;
  /** Its age when an attempt ended well, in ms; NaN until then. */
  answeredMs = Number.NaN;
  /** The type of its last error, if no attempt has gone well since. */
  failure: string | undefined = undefined;
  /** The context of its arrival with its span, whether recorded or not. */
  inside: Context | undefined = undefined;
  /** Its spans. Undefined: they are not recorded, or have ended. */
  span: RequestSpan | undefined = undefined;

  /** Adds itself to the notes of a ticket. */
  constructor(ticket: Ticket, owner: object) {
    this.owner = owner;
    this.next = ticket.notes;
    ticket.notes = this;
  }
}

/** The note of one owner; undefined: it has made none. */
export function noteOf({ notes }: Ticket, owner: object): Note | undefined {
  for (let note = notes; note !== undefined; note = note.next) {
    if (note.owner === owner && note instanceof Note) return note;
  }
  return undefined;
}

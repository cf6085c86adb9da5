import type { Ticket, TicketNote } from '../model/ticket.ts';

/** What the metrics of one name keep of a request that was sent. */
export class RequestNote implements TicketNote {
  readonly owner: object;
  next: TicketNote | undefined = undefined;
  /** How old the request was when its present attempt began, in ms; NaN: none runs. */
  startedMs = Number.NaN;
  /** Its age when an attempt ended well, in ms; NaN until then. */
  answeredMs = Number.NaN;
  /** The type of its last error, if no attempt has gone well since. */
  failure: string | undefined = undefined;
  /** Whether it waits for the delay between two attempts. */
  isRetrying = false;

  constructor(owner: object) {
    this.owner = owner;
  }
}

/** The note of one owner; undefined: it has made none. */
export function noteOf({ notes }: Ticket, owner: object): RequestNote | undefined {
  for (let note = notes; note !== undefined; note = note.next) {
    if (note.owner === owner && note instanceof RequestNote) return note;
  }
  return undefined;
}

/** The same, made if there is none. */
export function noteFor(ticket: Ticket, owner: object): RequestNote {
  const known = noteOf(ticket, owner);
  if (known !== undefined) return known;
  const note = new RequestNote(owner);
  note.next = ticket.notes;
  ticket.notes = note;
  return note;
}

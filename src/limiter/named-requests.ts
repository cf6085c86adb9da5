import type { EndObserver, Ticket } from '../model/ticket.ts';

/** The unfinished requests of a limiter that have an `id`. */
export class NamedRequests {
  private readonly byId = new Map<unknown, Set<NamedRequest>>();
  private count = 0;

  /** A request has arrived. Several may have the same id. */
  add(ticket: Ticket, id: unknown): void {
    const named = new NamedRequest(ticket, this.count, (ended) => this.remove(id, ended));
    this.count += 1;
    const known = this.byId.get(id);
    if (known === undefined) this.byId.set(id, new Set([named]));
    else known.add(named);
    ticket.observers = [...(ticket.observers ?? []), named];
  }

  /** The requests with this id, in the order of their arrival. */
  of(id: unknown): readonly NamedRequest[] {
    return [...(this.byId.get(id) ?? [])];
  }

  private remove(id: unknown, named: NamedRequest): void {
    const known = this.byId.get(id);
    known?.delete(named);
    if (known?.size === 0) this.byId.delete(id);
  }
}

/** A request with an `id`, until it ends. */
class NamedRequest implements EndObserver {
  readonly ticket: Ticket;
  /** The number of the request among those with an id. */
  readonly order: number;
  private readonly ended: (request: NamedRequest) => void;

  constructor(ticket: Ticket, order: number, ended: (request: NamedRequest) => void) {
    this.ticket = ticket;
    this.order = order;
    this.ended = ended;
  }

  settled(): void {
    this.ended(this);
  }
}

/** Remembers the traces of requests, while an inspector wants to link to them. */
class TraceIds {
  #ids: WeakMap<object, string> | undefined = undefined;

  /** From now on, or no longer. */
  keep(isWanted: boolean): void {
    this.#ids = isWanted ? new WeakMap() : undefined;
  }

  remember(ticket: object, traceId: string): void {
    this.#ids?.set(ticket, traceId);
  }

  /** Undefined: the request is not traced, or nobody wanted to know. */
  of(ticket: object): string | undefined {
    return this.#ids?.get(ticket);
  }
}

export const traceIds = new TraceIds();

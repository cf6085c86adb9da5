/** The place of one request in the order of results. */
export interface Slot<R> {
  readonly results: R[];
  done: boolean;
  next: Slot<R> | undefined;
  /** Runs the emission of its results inside a context, if there is one. */
  carry: ((deliver: () => void) => void) | undefined;
}

/** Emits results in the order in which their places were reserved. */
export class InOrder<R> {
  readonly #deliver: (result: R) => void;
  #head: Slot<R> | undefined = undefined;
  #tail: Slot<R> | undefined = undefined;
  #flushing = false;

  /** @param deliver must not throw */
  constructor(deliver: (result: R) => void) {
    this.#deliver = deliver;
  }

  /** Whether every place is closed and everything was emitted. */
  get idle(): boolean {
    return this.#head === undefined;
  }

  open(): Slot<R> {
    const slot: Slot<R> = { results: [], done: false, next: undefined, carry: undefined };
    if (this.#tail === undefined) this.#head = slot;
    else this.#tail.next = slot;
    this.#tail = slot;
    return slot;
  }

  push(slot: Slot<R>, result: R): void {
    slot.results.push(result);
    this.#flush();
  }

  close(slot: Slot<R>): void {
    slot.done = true;
    this.#flush();
  }

  #flush(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    for (let slot = this.#head; slot !== undefined; slot = this.#head) {
      // The list grows during the loop if a subscriber sends more requests.
      for (const result of slot.results) {
        if (slot.carry === undefined) this.#deliver(result);
        else slot.carry(() => this.#deliver(result));
      }
      slot.results.length = 0;
      if (!slot.done) break;
      this.#head = slot.next;
      slot.next = undefined;
      if (this.#head === undefined) this.#tail = undefined;
    }
    this.#flushing = false;
  }
}

import type { Subscriber } from 'rxjs';

/** The place of one request in the order of results. */
export interface Slot<R> {
  readonly results: R[];
  done: boolean;
  next: Slot<R> | undefined;
  /** Runs what hands its results on, where something is to be around that. */
  carry: ((deliver: () => void) => void) | undefined;
}

/** Hands results on in the order in which their slots were opened. */
export class InOrder<R> {
  private readonly out: Subscriber<R>;
  private head: Slot<R> | undefined = undefined;
  private tail: Slot<R> | undefined = undefined;
  private flushing = false;

  constructor(out: Subscriber<R>) {
    this.out = out;
  }

  /** Whether every slot is closed and all was handed on. */
  get idle(): boolean {
    return this.head === undefined;
  }

  open(): Slot<R> {
    const slot: Slot<R> = { results: [], done: false, next: undefined, carry: undefined };
    if (this.tail === undefined) this.head = slot;
    else this.tail.next = slot;
    this.tail = slot;
    return slot;
  }

  push(slot: Slot<R>, result: R): void {
    slot.results.push(result);
    this.flush();
  }

  close(slot: Slot<R>): void {
    slot.done = true;
    this.flush();
  }

  private flush(): void {
    if (this.flushing) return;
    this.flushing = true;
    for (let slot = this.head; slot !== undefined; slot = this.head) {
      // The list grows while it is gone through if a subscriber comes back with more.
      for (const result of slot.results) {
        if (slot.carry === undefined) this.out.next(result);
        else slot.carry(() => this.out.next(result));
      }
      slot.results.length = 0;
      if (!slot.done) break;
      this.head = slot.next;
      slot.next = undefined;
      if (this.head === undefined) this.tail = undefined;
    }
    this.flushing = false;
  }
}

import type { Gate } from '../gate/gate.ts';
import type { Clock, Timer } from '../model/clock.ts';
import type { Receiver, Ticket } from '../model/ticket.ts';

/** Who is told how a wait ended: exactly one of the two, unless it is cancelled. */
export interface Waiting {
  /** The request may be sent again. */
  ready(): void;
  /** Its deadline has passed first. */
  expired(): void;
}

/** A request between two attempts: first a delay of its own, then the backoff of all. */
export class RetryWait implements Receiver {
  gone = false;
  readonly #ticket: Ticket;
  readonly #gate: Gate;
  readonly #waiting: Waiting;
  #delay: Timer | undefined = undefined;
  #deadline: Timer | undefined = undefined;
  /** Whether the request waits at the backoff gate. */
  #queued = false;

  constructor(ticket: Ticket, gate: Gate, waiting: Waiting) {
    this.#ticket = ticket;
    this.#gate = gate;
    this.#waiting = waiting;
  }

  /**
   * @param delayMs 0: the backoff alone
   * @param leftMs time left until the deadline; Infinity: there is none
   */
  start(clock: Clock, delayMs: number, leftMs: number): void {
    const startedAt = clock.now();
    if (leftMs !== Number.POSITIVE_INFINITY) {
      this.#deadline = clock.setTimer(() => {
        const waitedMs = clock.now() - startedAt;
        const [gate, ms] = this.#queued
          ? ([this.#gate.kind, waitedMs - delayMs] as const)
          : (['retry', waitedMs] as const);
        this.#ticket.waited(gate, ms, 1);
        this.cancel();
        this.#waiting.expired();
      }, leftMs);
    }
    if (delayMs === 0) this.#enterGate();
    else {
      this.#delay = clock.setTimer(() => {
        this.#ticket.waited('retry', delayMs, 1);
        this.#enterGate();
      }, delayMs);
    }
  }

  admitted(): void {
    this.#queued = false;
    this.#deadline?.cancel();
    if (!this.gone) this.#waiting.ready();
  }

  cancel(): void {
    this.gone = true;
    this.#delay?.cancel();
    this.#deadline?.cancel();
    if (this.#queued) this.#gate.left(1);
    this.#queued = false;
  }

  #enterGate(): void {
    if (this.#gate.enter(this.#ticket, this)) this.admitted();
    else this.#queued = !this.gone;
  }
}

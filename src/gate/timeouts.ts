import type { Clock, Timer } from '../model/clock.ts';
import { WaitTimeoutError } from '../model/errors.ts';
import type { GateKind } from '../model/outcome.ts';
import type { Patience, Receiver, Ticket } from '../model/ticket.ts';
import { Fifo } from './fifo.ts';

/** The gate where a request waits, and who waits for the request. */
interface Place {
  readonly gate: {
    readonly waitKind: GateKind;
    expel(ticket: Ticket, receiver: Receiver, error: Error): void;
  };
  readonly receiver: Receiver;
}

/** One request that has waited somewhere and was not sent yet. */
class Waiter implements Patience {
  readonly ticket: Ticket;
  /** Where it waits; undefined between two gates. */
  place: Place | undefined = undefined;
  readonly #timeouts: Timeouts;

  constructor(ticket: Ticket, timeouts: Timeouts) {
    this.ticket = ticket;
    this.#timeouts = timeouts;
  }

  end(): void {
    this.#timeouts.ended();
  }
}

/**
 * Ends the wait of requests that were not sent within a time from their arrival. All have the same
 * time, so the first to come is the first to go: one timer, and O(1) a request, amortised.
 */
export class Timeouts {
  readonly #clock: Clock;
  readonly #waiters = new Fifo<Waiter, undefined>(({ ticket }) => ticket.patience === undefined);
  #waitTimeoutMs: number;
  #timer: Timer | undefined = undefined;

  /** @param waitTimeoutMs Infinity: nobody is timed out */
  constructor(waitTimeoutMs: number, clock: Clock) {
    this.#waitTimeoutMs = waitTimeoutMs;
    this.#clock = clock;
  }

  get isOn(): boolean {
    return this.#waitTimeoutMs !== Number.POSITIVE_INFINITY;
  }

  /** A request has come to wait at a gate. */
  wait(ticket: Ticket, place: Place): void {
    if (!this.isOn || ticket.attempts > 0) return;
    if (!(ticket.patience instanceof Waiter)) {
      const waiter = new Waiter(ticket, this);
      ticket.patience = waiter;
      this.#waiters.push(waiter, undefined, ticket.arrivedAt);
      if (this.#timer === undefined) this.#arm();
    }
    if (ticket.patience instanceof Waiter) ticket.patience.place = place;
  }

  /** Another time from now on, for those too that wait; where there was none, for newcomers alone. */
  configure(waitTimeoutMs: number): void {
    this.#waitTimeoutMs = waitTimeoutMs;
    this.#disarm();
    this.#arm();
  }

  /** One of those that wait does so no longer. */
  ended(): void {
    this.#waiters.bury(1);
    if (this.#waiters.length === 0) this.#disarm();
  }

  #arm(): void {
    if (this.#timer !== undefined || !this.isOn || !this.#waiters.seek()) return;
    const leftMs = this.#waiters.since + this.#waitTimeoutMs - this.#clock.now();
    this.#timer = this.#clock.setTimer(
      () => {
        this.#timer = undefined;
        this.#expire();
      },
      Math.max(0, leftMs),
    );
  }

  #expire(): void {
    while (this.#waiters.seek()) {
      if (this.#clock.now() < this.#waiters.since + this.#waitTimeoutMs) break;
      const { ticket, place } = this.#waiters.item;
      const waitKind = place?.gate.waitKind ?? 'concurrency';
      const error = new WaitTimeoutError(this.#waitTimeoutMs, waitKind);
      if (place === undefined) ticket.refuse(error);
      else place.gate.expel(ticket, place.receiver, error);
    }
    this.#arm();
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
